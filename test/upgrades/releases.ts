import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Release {
  readonly version: string;
  /** A tag may be missing in a clone. */
  readonly commit: string;
}

/** Every release that can be upgraded to this one while it serves. A release stays here while docs/upgrade.md promises that. */
export const RELEASES: readonly Release[] = [
  { version: '0.1.0', commit: '03c16f2a78a147634bb5c9d2ff28ec866501a79f' },
];

const ROOT = resolve(import.meta.dirname, '../..');

/** RELEASE_BUILDS names the folder that keeps the builds. */
const cache = (): string =>
  process.env['RELEASE_BUILDS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatehouse-releases');

/**
 * The command of a release: its commit with the packages of its lockfile, built once into the cache. Takes about two minutes the first
 * time. Rejects where the clone has no such commit.
 */
export async function buildOf(release: Release): Promise<string> {
  const folder = join(cache(), release.commit);
  const bin = join(folder, 'bin/gatehouse.mjs');
  mkdirSync(cache(), { recursive: true });
  const { inTurn } = (await import(pathToFileURL(join(ROOT, 'bin/turn.mjs')).href)) as {
    inTurn: <T>(folder: string, work: () => T) => Promise<T>;
  };
  await inTurn(`${folder}-turn`, () => {
    const mark = join(folder, '.complete');
    if (existsSync(mark)) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    unpack(release, folder);
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, env: cleanEnvironment() });
    execFileSync(process.execPath, [bin, '--version'], { cwd: folder });
    writeFileSync(mark, '');
  });
  return bin;
}

function unpack({ version, commit }: Release, folder: string): void {
  const archive = spawnSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  if (archive.status !== 0)
    throw new Error(
      `The clone lacks commit ${commit} of ${version}. Run "git fetch --unshallow" and try again: ${archive.stderr.toString()}`,
    );
  execFileSync('tar', ['x', '-C', folder], { input: archive.stdout });
}

/** `npm run` describes its own package in these variables, which the other npm would believe. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const ofRun = /^(npm_(package|lifecycle|command|execpath|node|config_local_prefix)|INIT_CWD|NODE_ENV|CI$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofRun.test(name)));
}
