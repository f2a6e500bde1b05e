/**
 * The last step of `npm ci` in a checkout of the sources: builds, so that the first start need not. Nothing that goes wrong here fails the
 * installation: what is missing is built by the first start, which then says what hinders it.
 * https://docs.npmjs.com/cli/v11/using-npm/scripts#prepare-and-prepublish
 */
import { createRequire } from 'node:module';
import { buildIfStale } from '../bin/build-if-stale.mjs';

if (hasCompiler())
  await buildIfStale().catch((error) =>
    console.error(`${error.message} It is tried again at the first start.`),
  );

/** Not with `--omit=dev`. */
function hasCompiler() {
  try {
    createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
    return true;
  } catch {
    return false;
  }
}
