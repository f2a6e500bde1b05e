/**
 * Prints the software bill of materials of the package in CycloneDX 1.5: the dependencies that an installation gets, from the lockfile.
 * https://docs.npmjs.com/cli/v11/commands/npm-sbom
 *
 * Usage: node scripts/sbom.mjs > gatehouse.cdx.json
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file) => JSON.parse(readFileSync(`${ROOT}/${file}`, 'utf8'));
const { name } = read('package.json');
const OPTIONS = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
const IN_MODULES = 'node_modules/';

/** `name@version` of each package that the lockfile gives to an installation without development dependencies. */
const installed = new Set(
  Object.entries(read('package-lock.json').packages)
    .filter(([path, { dev, link }]) => path.includes(IN_MODULES) && !dev && !link)
    .map(
      ([path, entry]) =>
        `${entry.name ?? path.slice(path.lastIndexOf(IN_MODULES) + IN_MODULES.length)}@${entry.version}`,
    ),
);

// With its option `--omit=dev`, npm 11 also leaves out packages that a development dependency uses too.
const bill = JSON.parse(
  execFileSync('npm', ['sbom', ...OPTIONS], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
);
bill.components = bill.components.filter((component) =>
  installed.has(`${component.name}@${component.version}`),
);
const refs = new Set([
  bill.metadata.component['bom-ref'],
  ...bill.components.map((component) => component['bom-ref']),
]);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
// npm takes the name of the folder.
bill.metadata.component.name = name;

const listed = new Set(bill.components.map((component) => `${component.name}@${component.version}`));
const missing = [...installed].filter((each) => !listed.has(each));
if (missing.length > 0) {
  console.error(`The bill of materials lacks ${missing.join(', ')}.`);
  process.exitCode = 1;
} else console.log(JSON.stringify(bill, null, 2));
