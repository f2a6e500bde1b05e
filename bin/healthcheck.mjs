import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether the instance in this container is alive, as an exit code. One that serves is asked; one that only works in
 * the background has no port, but touches the lock of its data folder every two seconds.
 */
const HEARTBEAT_STALE_MS = 15_000;
const { GATEHOUSE_ROLE = 'all', GATEHOUSE_PORT = '8787', GATEHOUSE_DATA_DIR = './data' } = process.env;

async function isAlive() {
  if (GATEHOUSE_ROLE === 'worker')
    return Date.now() - statSync(join(GATEHOUSE_DATA_DIR, 'gatehouse.lock')).mtimeMs < HEARTBEAT_STALE_MS;
  return (await fetch(`http://127.0.0.1:${GATEHOUSE_PORT}/livez`)).ok;
}

process.exit((await isAlive().catch(() => false)) ? 0 : 1);
