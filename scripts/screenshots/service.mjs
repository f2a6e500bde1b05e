/** The service for the screenshots: built, with its own database in a temporary folder. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../dist/cli/embedded-postgres.js';

const ROOT = join(import.meta.dirname, '../..');
/** A busy machine may have to build first. */
const READY_MS = 600_000;
const POLL_MS = 200;
const CONNECTIONS = 100;

/** @returns {Promise<number>} a recently free port of 127.0.0.1. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts it and waits until it is ready. The database is started separately, because history is written directly to it.
 *
 * @param {readonly number[]} upstreamPorts ports of 127.0.0.1 that it may call
 */
export async function startDemo(upstreamPorts) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-screenshots-'));
  const databaseDir = join(folder, 'database');
  mkdirSync(databaseDir);
  const postgres = await EmbeddedPostgres.start({ dataDir: databaseDir, maxConnections: CONNECTIONS });
  await postgres.untilUp(READY_MS);
  const databaseUrl = postgres.url.reveal();
  const port = await freePort();
  const dataDir = join(folder, 'data');
  const output = openSync(join(folder, 'output.log'), 'a');
  const child = spawn(process.execPath, [join(ROOT, 'bin/gatehouse.mjs'), 'start'], {
    cwd: ROOT,
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: databaseUrl,
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: String(port),
      GATEHOUSE_PROCESSES: '1',
      GATEHOUSE_EGRESS_ALLOW: upstreamPorts.map((each) => `127.0.0.1:${each}`).join(','),
    },
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const base = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(base, ended);
  } catch (error) {
    const log = readFileSync(join(folder, 'output.log'), 'utf8');
    await stop();
    throw new Error(`The service did not start:\n${log}`, { cause: error });
  }
  const bootstrap = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'));
  return { base, databaseUrl, bootstrap, stop };
}

async function untilReady(base, ended) {
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && !hasEnded) {
    const answer = await fetch(`${base}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await sleep(POLL_MS);
  }
  throw new Error(hasEnded ? 'It ended.' : 'It was not ready in time.');
}
