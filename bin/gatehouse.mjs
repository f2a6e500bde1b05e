#!/usr/bin/env node
import { buildIfStale } from './build-if-stale.mjs';

try {
  await buildIfStale();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const { runCommand } = await import(new URL('../dist/cli/cli.js', import.meta.url).href);
await runCommand(process.argv.slice(2));
