/**
 * The last step of `npm ci` in a source checkout: builds, so that the first start need not. Failures here do not fail the installation: the
 * first start builds what is missing, and reports any problem. https://docs.npmjs.com/cli/v11/using-npm/scripts#prepare-and-prepublish
 */
import { createRequire } from 'node:module';
import { buildIfStale } from '../bin/build-if-stale.mjs';

if (hasCompiler())
  await buildIfStale().catch((error) =>
    console.error(`${error.message} It is tried again at the first start.`),
  );

/** Missing with `--omit=dev`. */
function hasCompiler() {
  try {
    createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
    return true;
  } catch {
    return false;
  }
}
