/**
 * Bundles each program of an instance into one file, `dist/main.js`, `dist/administration.js` and `dist/worker.js`: most of their modules
 * have a few lines, and the overhead of V8 and the loader for each costs memory in every process and time at every start. Names and lines
 * are preserved, so that stack traces stay readable. Run after `nest build`. docs/decisions/0002-process-model.md
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const BUILT = resolve(dirname(fileURLToPath(import.meta.url)), '../dist');
const PROGRAMS = ['main', 'administration', 'worker'];

/**
 * Packages to bundle: large ones of which we use little, with their dependencies. NestJS is bundled completely, because a second copy would
 * not recognize the classes of the first. All other packages stay imports, above all those loaded only on demand of a setting, and those
 * that look for files next to themselves.
 */
const TAKEN_IN = new Set([
  ...['@nestjs/common', '@nestjs/core', 'fast-safe-stringify', 'iterare', 'path-to-regexp', 'tslib', 'uid'],
  ...[
    '@nestjs/platform-fastify',
    '@fastify/middie',
    'fast-decode-uri-component',
    'fast-querystring',
    'fastify-plugin',
    'find-my-way',
  ],
  ...['@nestjs/swagger', '@nestjs/mapped-types', 'es-toolkit', 'js-yaml'],
  ...['@nestjs/typeorm', '@nestjs/passport', '@nestjs/bullmq', '@nestjs/bull-shared'],
  ...['ajv', 'ajv-formats', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'require-from-string'],
  '@pydantic/genai-prices',
  're2js',
  'rxjs',
  'zod',
]);

const packageOf = (specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
const isPath = (specifier) => /^[./]|^[a-z]:\\/i.test(specifier) || specifier.startsWith('\0');
const staysOutside = (specifier) => !isPath(specifier) && !TAKEN_IN.has(packageOf(specifier));

/** Modules that locate neighbouring files keep their original location. */
const placesKept = {
  name: 'places-kept',
  transform(code, id) {
    if (/\b__(dirname|filename)\b/.test(code))
      throw new Error(`${id} looks for files beside itself: leave its package outside.`);
    // Ids that are not files are the bundler's own.
    if (!isAbsolute(id) || !code.includes('import.meta.url')) return null;
    const place = `./${relative(BUILT, id).split(sep).join('/')}`;
    return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
  },
};

/** A bundled package's dependencies are resolved from its own folder, perhaps to another version than ours. */
function assertOurs({ fileName, imports }, written) {
  const { dependencies } = JSON.parse(readFileSync(resolve(BUILT, '../package.json'), 'utf8'));
  const foreign = imports.filter(
    (one) => !isBuiltin(one) && !written.has(one) && !(packageOf(one) in dependencies),
  );
  if (foreign.length > 0) throw new Error(`${fileName} imports ${foreign.join(', ')}: take them in as well.`);
}

/** V8 stores a source with one byte per character only if no character needs two. */
function inOneByte(code) {
  if (/\\[^\0-\xff]/.test(code))
    throw new Error('A backslash before a character of two bytes would escape its escape.');
  return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Rewrites `dist/<program>.js`, and `dist/<program>-*.js` for code that is loaded later. Removes the source map of the previous text. */
async function bundleProgram(program) {
  const bundle = await rolldown({
    input: resolve(BUILT, `${program}.js`),
    platform: 'node',
    external: staysOutside,
    plugins: [placesKept],
    logLevel: 'warn',
  });
  const { output } = await bundle.generate({
    format: 'esm',
    keepNames: true,
    comments: false,
    chunkFileNames: `${program}-[name].js`,
  });
  await bundle.close();
  rmSync(resolve(BUILT, `${program}.js.map`), { force: true });
  const written = new Set(output.map(({ fileName }) => fileName));
  for (const chunk of output) {
    assertOurs(chunk, written);
    writeFileSync(resolve(BUILT, chunk.fileName), inOneByte(chunk.code));
  }
}

/** Bundles all programs and, when complete, writes `dist/.built`. Rejects when a module cannot be found or bundled. */
export async function bundlePrograms() {
  await Promise.all(PROGRAMS.map(bundleProgram));
  writeFileSync(resolve(BUILT, '.built'), '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundlePrograms();
