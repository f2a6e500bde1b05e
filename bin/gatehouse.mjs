#!/usr/bin/env node
import { buildIfStale } from './build-if-stale.mjs';

await buildIfStale();
const { runCommand } = await import(new URL('../dist/launcher/cli.js', import.meta.url).href);
await runCommand(process.argv.slice(2));
