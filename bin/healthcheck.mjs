import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reports whether the instance in this container is alive, as an exit code. A worker that waits for an API node to prepare the installation
 * does not listen yet, but touches the lock of its data folder every two seconds.
 */
const HEARTBEAT_STALE_MS = 15_000;
const { GATEHOUSE_ROLE = 'all', GATEHOUSE_PORT = '8787', GATEHOUSE_DATA_DIR = './data' } = process.env;

async function isAlive() {
  try {
    return (await fetch(`http://127.0.0.1:${GATEHOUSE_PORT}/livez`)).ok;
  } catch (error) {
    if (GATEHOUSE_ROLE !== 'worker' || error.cause?.code !== 'ECONNREFUSED') throw error;
    return Date.now() - statSync(join(GATEHOUSE_DATA_DIR, 'gatehouse.lock')).mtimeMs < HEARTBEAT_STALE_MS;
  }
}

process.exit((await isAlive().catch(() => false)) ? 0 : 1);
