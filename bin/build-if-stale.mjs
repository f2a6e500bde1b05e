import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, 'src');
/** Written last, by scripts/bundle-programs.mjs. */
const BUILT = join(ROOT, 'dist', '.built');
const LOCK = join(ROOT, 'node_modules', '.gatehouse-build');
const LOCK_STALE_MS = 60_000;

/** Builds when this is a source checkout whose build is missing or older than its sources. A package has no sources. */
export async function buildIfStale() {
  if (!existsSync(SOURCE) || isFresh()) return;
  await takeTurn();
  try {
    if (!isFresh()) await build();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function isFresh() {
  return existsSync(BUILT) && newestSource() <= statSync(BUILT).mtimeMs;
}

/** Folders count too: deleting a file changes only its folder. Specs are not built. */
function newestSource() {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('.spec.ts'),
  );
  const files = ['.swcrc', 'nest-cli.json', 'package.json', 'scripts/bundle-programs.mjs'].map((name) => join(ROOT, name));
  return Math.max(
    ...[...sources.map((name) => join(SOURCE, name)), ...files].map(
      (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  );
}

/** A build empties `dist` first, so two at once would spoil each other's. */
async function takeTurn() {
  for (;;) {
    try {
      mkdirSync(LOCK);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const since = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (Date.now() - since > LOCK_STALE_MS) rmSync(LOCK, { recursive: true, force: true });
      else await sleep(100);
    }
  }
}

async function build() {
  process.stderr.write('The sources are newer than the build. Building ...\n');
  const nest = createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [nest, 'build'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status === 0) return bundle();
  process.stderr.write(`${stdout}${stderr}\nThe build failed.\n`);
  process.exit(1);
}

async function bundle() {
  const { bundlePrograms } = await import('../scripts/bundle-programs.mjs');
  await bundlePrograms();
}
