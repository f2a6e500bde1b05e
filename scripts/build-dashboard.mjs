/**
 * Builds the dashboard into `dashboard/dist` unless it is newer than its sources, and copies it to `dist/dashboard` for the administration
 * process. Run it after `nest build`, which empties `dist`.
 */
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const HOME = join(ROOT, 'dashboard');
const OUT = join(HOME, 'dist');
const BUILT = join(OUT, '.built');
const INPUTS = [
  'dashboard/src',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'dashboard/package.json',
  'package-lock.json',
  'scripts/build-dashboard.mjs',
];

/** Fonts are already compressed. */
const COMPRESSED = new Set(['.css', '.js', '.svg']);
/** A smaller file fits into one packet uncompressed. */
const SMALLEST_BYTES = 1_024;

const changedAt = (path) => statSync(path).mtimeMs;

/** Newest modification time of a file, or of a folder and everything below it: deleting a file changes only its folder. */
function newestIn(path) {
  if (!statSync(path).isDirectory()) return changedAt(path);
  return Math.max(
    changedAt(path),
    ...readdirSync(path, { recursive: true }).map((name) => changedAt(join(path, name))),
  );
}

/** When a source of the dashboard last changed, in milliseconds. */
export const newestDashboardSource = () => Math.max(...INPUTS.map((name) => newestIn(join(ROOT, name))));

const isFresh = () => existsSync(BUILT) && newestDashboardSource() <= changedAt(BUILT);

/** Writes `<file>.gz` and `<file>.br` where they are smaller. */
async function compress(path) {
  const plain = readFileSync(path);
  if (plain.length < SMALLEST_BYTES) return;
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(plain, { level: 9 }),
    promisify(brotliCompress)(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
  ]);
  if (zipped.length < plain.length) writeFileSync(`${path}.gz`, zipped);
  if (brotli.length < plain.length) writeFileSync(`${path}.br`, brotli);
}

async function build() {
  // In a separate process: a test run that triggers the build sets NODE_ENV, which would select React's development build.
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: HOME, env });
  const assets = join(OUT, 'assets');
  await Promise.all(
    readdirSync(assets)
      .filter((name) => COMPRESSED.has(extname(name)))
      .map((name) => compress(join(assets, name))),
  );
  writeFileSync(BUILT, '');
}

/** Rejects when a source does not compile. */
export async function buildDashboard() {
  if (!isFresh()) await build();
  cpSync(OUT, join(ROOT, 'dist', 'dashboard'), { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDashboard();
