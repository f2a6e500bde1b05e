#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Runs the service from the sources, and restarts it when one of them changes. Each start builds what is outdated. */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SETTLE_MS = 250;

let service = start();
let stopping = false;
let settled;

/** In a separate process group: Ctrl-C reaches only this process, which passes it on once. */
function start() {
  const command = [join(ROOT, 'bin', 'gatehouse.mjs'), 'start'];
  return spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
}

async function end(signal) {
  if (service.exitCode !== null || service.signalCode !== null) return;
  const ended = new Promise((resolve) => service.once('exit', resolve));
  service.kill(signal);
  await ended;
}

async function restart() {
  const old = service;
  await end('SIGINT');
  if (!stopping && old === service) service = start();
}

watch(join(ROOT, 'src'), { recursive: true }, (_, name) => {
  if (!name?.endsWith('.ts') || name.endsWith('.spec.ts')) return;
  clearTimeout(settled);
  settled = setTimeout(restart, SETTLE_MS);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, async () => {
    stopping = true;
    await end(signal);
    process.exit(0);
  });
