/**
 * Writes `src/schema/entities-and-migrations.ts`, the list of all entities and migrations: a static list, because file patterns of TypeORM
 * match other files in compiled code and in tests, and the programs are bundled. With `--check` it writes nothing and fails when the list is
 * outdated. `npm run generate` runs it before the build.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';

const SOURCES = fileURLToPath(new URL('../src', import.meta.url));
const LIST = resolve(SOURCES, 'schema/entities-and-migrations.ts');

/** A class, and the decorator of an entity before it. */
const ENTITY = /^@Entity\([\s\S]*?^export class (\w+)/gm;
/** Its name ends with the time in the name of its file. */
const MIGRATION = /^export class (\w+\d{13}) implements MigrationInterface/gm;

async function classesIn(folder, ending, pattern) {
  const names = await readdir(resolve(SOURCES, folder), { recursive: true });
  const files = names.filter((name) => name.endsWith(ending) && !name.endsWith('.spec.ts')).sort();
  return Promise.all(
    files.map(async (name) => {
      const path = resolve(SOURCES, folder, name);
      const classes = [...(await readFile(path, 'utf8')).matchAll(pattern)].map(([, each]) => each);
      if (classes.length === 0)
        throw new Error(`src/${folder}/${name} has no class that matches ${pattern}.`);
      const from = relative(dirname(LIST), path).replace(/\.ts$/, '.js');
      return { classes, from: from.startsWith('.') ? from : `./${from}` };
    }),
  );
}

const importOf = ({ classes, from }) => `import { ${classes.join(', ')} } from '${from}';`;
const listOf = (files) => `[${files.flatMap(({ classes }) => classes).join(', ')}]`;

async function schemaList() {
  const entities = await classesIn('admin', '.entity.ts', ENTITY);
  const migrations = await classesIn('schema/migrations', '.ts', MIGRATION);
  const text = `// Written by scripts/generate-schema.mjs: run "npm run generate".
${[...entities, ...migrations].map(importOf).join('\n')}

/** Every class with \`@Entity\` in the \`*.entity.ts\` files of src/admin. */
export const ENTITIES = ${listOf(entities)};

/** Every file of src/schema/migrations. They run in the order of the times in their names. */
export const MIGRATIONS = ${listOf(migrations)};
`;
  return prettier.format(text, { ...(await prettier.resolveConfig(LIST)), parser: 'typescript' });
}

const text = await schemaList();
if (!process.argv.includes('--check')) await writeFile(LIST, text);
else if ((await readFile(LIST, 'utf8').catch(() => '')) !== text) {
  console.error(`${relative(process.cwd(), LIST)} is out of date: run "npm run generate".`);
  process.exitCode = 1;
}
