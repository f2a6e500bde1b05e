import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn } from './turn.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, 'src');
/** Written last, by scripts/bundle-programs.mjs. */
const BUILT = join(ROOT, 'dist', '.built');
const TURN = join(ROOT, 'node_modules', '.gatehouse-build');

/**
 * Builds when this is a source checkout whose build is missing or older than its sources. A package has no sources. Throws when the build
 * fails, with the compiler's output on stderr.
 */
export async function buildIfStale() {
  if (!existsSync(SOURCE) || (await isFresh())) return;
  // A build empties `dist` first, so concurrent builds would destroy each other's.
  await inTurn(TURN, async (worksForUs) => {
    if (!(await isFresh())) await build(worksForUs);
  });
}

async function isFresh() {
  if (!existsSync(BUILT)) return false;
  // A package has neither sources nor these scripts, so they are not imported at the top.
  const { newestDashboardSource } = await import('../scripts/build-dashboard.mjs');
  return Math.max(newestSource(), newestDashboardSource()) <= statSync(BUILT).mtimeMs;
}

/** Folders count too: deleting a file changes only its folder. Specs are not built. */
function newestSource() {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('.spec.ts'),
  );
  const files = ['.swcrc', 'nest-cli.json', 'package.json', 'scripts/bundle-programs.mjs'].map((name) =>
    join(ROOT, name),
  );
  return Math.max(
    ...[...sources.map((name) => join(SOURCE, name)), ...files].map(
      (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  );
}

async function build(worksForUs) {
  const nest = compiler();
  process.stderr.write('The sources are newer than the build. Building ...\n');
  const child = spawn(process.execPath, [nest, 'build'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  worksForUs(child.pid);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => said.push(bytes));
  const [code] = await once(child, 'close');
  if (code === 0) return bundle();
  process.stderr.write(`${Buffer.concat(said)}\n`);
  throw new Error('The build failed.');
}

/** Development dependencies are missing after `npm ci` with NODE_ENV=production or --omit=dev. */
function compiler() {
  try {
    return createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
  } catch {
    throw new Error(
      'This is a source checkout without its build tools. Run "npm ci --include=dev", or install the package "gatehouse".',
    );
  }
}

async function bundle() {
  const { buildDashboard } = await import('../scripts/build-dashboard.mjs');
  await buildDashboard();
  const { bundlePrograms } = await import('../scripts/bundle-programs.mjs');
  await bundlePrograms();
}
