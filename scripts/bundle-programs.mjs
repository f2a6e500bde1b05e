/**
 * Makes one file of each program of an instance, `dist/main.js`, `dist/administration.js` and `dist/worker.js`: of their modules most are
 * a few lines, and what V8 and the loader keep of each is memory of every process and time of every start. Names and lines stay as they
 * are, so that a stack can be read. Run after `nest build`. docs/decisions/0002-process-model.md
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const BUILT = resolve(dirname(fileURLToPath(import.meta.url)), '../dist');
const PROGRAMS = ['main', 'administration', 'worker'];

/**
 * What is taken in: much code of which we use little, with what it needs itself. NestJS is taken in whole, because a second one beside the
 * first would know none of its classes. All other packages are imported as they are, above all those that are loaded only where a setting
 * asks for them, and those that look for files beside themselves.
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

/** A module that looks for its neighbours goes on looking from where it stood. */
const placesKept = {
  name: 'places-kept',
  transform(code, id) {
    if (/\b__(dirname|filename)\b/.test(code))
      throw new Error(`${id} looks for files beside itself: leave its package outside.`);
    // What is no file is the bundler's own.
    if (!isAbsolute(id) || !code.includes('import.meta.url')) return null;
    const place = `./${relative(BUILT, id).split(sep).join('/')}`;
    return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
  },
};

/** What a package that was taken in needs is found from its own folder, and perhaps in another version than from ours. */
function assertOurs({ fileName, imports }, written) {
  const { dependencies } = JSON.parse(readFileSync(resolve(BUILT, '../package.json'), 'utf8'));
  const foreign = imports.filter(
    (one) => !isBuiltin(one) && !written.has(one) && !(packageOf(one) in dependencies),
  );
  if (foreign.length > 0) throw new Error(`${fileName} imports ${foreign.join(', ')}: take them in as well.`);
}

/** V8 keeps a source in one byte a character only if none of them needs two. */
function inOneByte(code) {
  if (/\\[^\0-\xff]/.test(code))
    throw new Error('A backslash before a character of two bytes would escape its escape.');
  return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes `dist/<program>.js` anew, and `dist/<program>-*.js`, what it loads later. The source map of its old text goes. */
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

/** Bundles all programs and, when all is there, writes `dist/.built`. Rejects where a module cannot be found or taken in. */
export async function bundlePrograms() {
  await Promise.all(PROGRAMS.map(bundleProgram));
  writeFileSync(resolve(BUILT, '.built'), '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundlePrograms();
