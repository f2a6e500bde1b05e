import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../..');

/** The command that starts the built service. TEST_GATEHOUSE_BIN points at a build that lies elsewhere. */
export const gatehouseBin = (): string =>
  process.env['TEST_GATEHOUSE_BIN'] ?? join(ROOT, 'bin/gatehouse.mjs');

/** Where the service is started: beside its `package.json`. */
export const homeOfBuild = (bin = gatehouseBin()): string => dirname(dirname(bin));

/** Builds the service unless the build is newer than its sources, so that no start has to. */
export async function buildIfNeeded(): Promise<void> {
  if (process.env['TEST_GATEHOUSE_BIN']) return;
  const { buildIfStale } = (await import(pathToFileURL(join(ROOT, 'bin/build-if-stale.mjs')).href)) as {
    buildIfStale: () => Promise<void>;
  };
  await buildIfStale();
}
