/** The contenders: one factory each, which starts its processes and returns how to reach them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, start, stop, untilAnswers } from './children.mjs';
import { createVirtualKey } from './gatehouse-admin.mjs';
import { GatehouseLedger } from './gatehouse-ledger.mjs';
import { moveTo, onCores } from './pinning.mjs';
import { commandLine, familyOf, isClusterWorker } from './proc.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..');
const PORTKEY = join(HERE, 'node_modules/@portkey-ai/gateway/build/start-server.js');
const PRELOAD = new URL('profile-preload.mjs', import.meta.url).href;

/** From a source checkout the start includes a build when the sources are newer. */
const START_SECONDS = 120;

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} what one line for the table's legend
 * @property {number} port
 * @property {Record<string, string>} headers
 * @property {() => number[]} gatewayPids processes that carry requests
 * @property {() => number[]} otherPids the rest of the product
 * @property {() => Promise<void>} stop
 * @property {GatehouseLedger} [ledger] its records of the requests
 * @property {string} [profiles] folder for CPU profiles
 */

/** A contender that cannot run here: its row shows why, and the run continues. */
export class NotAvailable extends Error {}

/** Names in the order in which they run, with their factories. */
export const CONTENDERS = {
  direct: startDirect,
  bare: startBare,
  gatehouse: (setting) => startGatehouse(setting, 1),
  portkey: startPortkey,
  'gatehouse-2': (setting) => startGatehouse(setting, 2),
};

async function startDirect({ upstream }) {
  return {
    name: 'direct',
    what: 'load generator straight to the fake upstream',
    port: upstream.port,
    headers: { authorization: 'Bearer sk-bench' },
    gatewayPids: () => [upstream.child.pid],
    otherPids: () => [],
    stop: async () => {},
  };
}

async function startBare({ upstream, pinning }) {
  const port = await freePort();
  const program = [
    process.execPath,
    join(HERE, 'bare-forwarder.mjs'),
    String(port),
    `http://127.0.0.1:${upstream.port}`,
  ];
  const child = start(onCores(pinning, pinning.gateway, program), {
    env: cleanEnvironment({ NODE_ENV: 'production' }),
  });
  await untilAnswers(child, `http://127.0.0.1:${port}/`);
  return {
    name: 'bare',
    what: 'Fastify + undici that only forward, one process',
    ...single(child, port),
    headers: { authorization: 'Bearer sk-bench' },
  };
}

async function startPortkey({ upstream, pinning, install }) {
  if (!existsSync(PORTKEY)) installPortkey(install);
  const port = await freePort();
  const { folder, log, logFile } = workFolder('portkey');
  const env = cleanEnvironment({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' });
  const program = [process.execPath, PORTKEY, `--port=${port}`, '--headless'];
  const child = start(onCores(pinning, pinning.gateway, program), { env, cwd: folder, log });
  await untilAnswers(child, `http://127.0.0.1:${port}/`, { logFile });
  const { stop: end, ...rest } = single(child, port);
  return {
    name: 'portkey',
    what: '@portkey-ai/gateway 1.15.2, one process, without authentication and logging (it has none of its own)',
    ...rest,
    headers: {
      authorization: 'Bearer x',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstream.port}/v1`,
    },
    stop: () => end().then(() => removeFolder(folder)),
  };
}

function installPortkey(install) {
  if (!install) throw new NotAvailable('not installed');
  console.error('bench: installing @portkey-ai/gateway into bench/ …');
  const parameters = [
    'install',
    '--prefix',
    HERE,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const done = spawnSync('npm', parameters, {
    cwd: HERE,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  });
  if (done.status !== 0 || !existsSync(PORTKEY)) throw new NotAvailable('not installed (npm could not)');
}

/**
 * `preload`: a module that each of its processes loads first. With a given data folder (`dataDir`), the service continues with its data and
 * keeps the folder.
 */
export async function startGatehouse({ upstream, pinning, profile, dataDir, preload = PRELOAD }, processes) {
  const port = await freePort();
  const { folder, log, logFile } = workFolder('gatehouse');
  const data = dataDir ?? join(folder, 'data');
  const profiles = join(folder, 'profiles');
  mkdirSync(profiles);
  const env = cleanEnvironment({
    NODE_ENV: 'production',
    GATEHOUSE_PORT: String(port),
    GATEHOUSE_PROCESSES: String(processes),
    GATEHOUSE_DATA_DIR: data,
    GATEHOUSE_EGRESS_ALLOW: `127.0.0.1:${upstream.port}`,
    GATEHOUSE_LOG_BODIES: 'full',
    GATEHOUSE_LOG_LEVEL: 'warn',
    GATEHOUSE_DRAIN_DELAY_MS: '0',
    ...(profile ? { NODE_OPTIONS: `--import=${preload}`, BENCH_PROFILE_DIR: profiles } : {}),
  });
  const program = [process.execPath, join(ROOT, 'bin/gatehouse.mjs'), 'start'];
  const child = start(onCores(pinning, pinning.rest, program), { env, cwd: ROOT, log });
  const end = () => stop(child, 30_000).then(() => removeFolder(folder));
  try {
    return await describeGatehouse({
      child,
      port,
      processes,
      pinning,
      upstream,
      data,
      logFile,
      profiles,
      end,
    });
  } catch (error) {
    await end();
    throw error;
  }
}

async function describeGatehouse({
  child,
  port,
  processes,
  pinning,
  upstream,
  data,
  logFile,
  profiles,
  end,
}) {
  const base = `http://127.0.0.1:${port}`;
  const startedAt = Date.now();
  await untilAnswers(child, `${base}/readyz`, {
    isReady: (status) => status === 200,
    seconds: START_SECONDS,
    logFile,
  });
  const readyAfterMs = Date.now() - startedAt;
  const gatewayPids = () => familyOf(child.pid).filter(isGateway);
  const found = gatewayPids();
  if (found.length !== processes)
    throw new Error(`${found.length} gateway processes instead of ${processes}`);
  if (pinning.on) found.forEach((pid, index) => moveTo([pinning.gateway[index] ?? pinning.gateway[0]], pid));

  const keys = JSON.parse(readFileSync(join(data, 'bootstrap.json'), 'utf8'));
  const slug = await createVirtualKey(base, keys, upstream.port);
  return {
    name: processes === 1 ? 'gatehouse' : `gatehouse-${processes}`,
    what: `Gatehouse, ${processes} gateway process${processes === 1 ? '' : 'es'}; authentication, virtual key, log with bodies and cost on`,
    port,
    headers: { 'x-gateway-api-key': keys.workspace_api_key, 'x-gateway-virtual-key': slug },
    gatewayPids,
    otherPids: () => familyOf(child.pid).filter((pid) => !isGateway(pid)),
    readyAfterMs,
    supervisorPid: child.pid,
    admin: { base, keys, upstreamPort: upstream.port },
    ledger: new GatehouseLedger(data),
    profiles,
    stop: end,
  };
}

function isGateway(pid) {
  return isClusterWorker(pid) && commandLine(pid).some((part) => part.endsWith('/main.js'));
}

function single(child, port) {
  return { port, gatewayPids: () => [child.pid], otherPids: () => [], stop: () => stop(child) };
}

/** The environment without the user's settings, so that every run measures the same product. */
function cleanEnvironment(extra) {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|USER|LANG|TZ|TMPDIR)$/.test(name));
  return { ...Object.fromEntries(kept), ...extra };
}

const folders = new Set();
// Also after an interruption. The processes that wrote there were ended just before.
process.on('exit', () => folders.forEach(removeFolder));

/** A separate folder; readable for others, because an embedded database may run as another user. */
function workFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-bench-${name}-`));
  folders.add(folder);
  chmodSync(folder, 0o755);
  const logFile = join(folder, 'output.log');
  return { folder, logFile, log: openSync(logFile, 'a') };
}

function removeFolder(folder) {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
