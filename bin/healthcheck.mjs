import { statSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';
import { join } from 'node:path';

/**
 * Reports whether the instance in this container is alive, as an exit code. A worker that waits for an API node to prepare the installation
 * does not listen yet, but touches the lock of its data folder every two seconds.
 */
const HEARTBEAT_STALE_MS = 15_000;
const {
  GATEHOUSE_ROLE = 'all',
  GATEHOUSE_PORT = '8787',
  GATEHOUSE_PROBES_PORT,
  GATEHOUSE_TLS_CERTIFICATE_FILE,
  GATEHOUSE_DATA_DIR = './data',
} = process.env;

async function isAlive() {
  try {
    return (await status()) === 200;
  } catch (error) {
    if (GATEHOUSE_ROLE !== 'worker' || error.code !== 'ECONNREFUSED') throw error;
    return Date.now() - statSync(join(GATEHOUSE_DATA_DIR, 'gatehouse.lock')).mtimeMs < HEARTBEAT_STALE_MS;
  }
}

/** The certificate names the public host and not this machine, and the request has no secret: it is not verified. */
function status() {
  const isTls = !GATEHOUSE_PROBES_PORT && GATEHOUSE_TLS_CERTIFICATE_FILE;
  const options = {
    host: '127.0.0.1',
    port: GATEHOUSE_PROBES_PORT || GATEHOUSE_PORT,
    path: '/livez',
    rejectUnauthorized: false,
  };
  return new Promise((resolve, reject) => {
    (isTls ? getTls : getPlain)(options, ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
}

process.exit((await isAlive().catch(() => false)) ? 0 : 1);
