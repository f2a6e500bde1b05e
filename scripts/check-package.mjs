/**
 * Checks the npm package as an operator gets it: packs it, installs it into an empty folder without development dependencies, starts it,
 * and sends one request with the key of its first start. The packages come from npm's configured registry.
 *
 * Usage: node scripts/check-package.mjs. Ends with exit code 1 and the reason when a step fails.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const START_WITHIN_MS = 120_000;
const POLL_MS = 250;
/** Of those that no dependency brings. */
const OF_DEVELOPMENT = ['eslint', 'vitest', 'playwright-core', 'dependency-cruiser', '@nestjs/cli'];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'));
try {
  const bin = install(folder);
  await serve(bin, join(folder, 'data'));
  console.log(`The package gatehouse ${version} installs into an empty folder, starts, and serves.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function install(into) {
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: into, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [{ filename, files }] = JSON.parse(npm('pack', ROOT, '--ignore-scripts', '--json', '--silent'));
  const missing = ['bin/gatehouse.mjs', 'dist/cli/cli.js', 'dist/main.js', 'LICENSE', 'README.md'].filter(
    (name) => !files.some(({ path }) => path === name),
  );
  check(missing.length === 0, `The package lacks ${missing.join(', ')}.`);
  check(
    files.every(({ path }) => !/^(src|test|docs|node_modules)\/|\.spec\.|\.env|secrets?\.json$/.test(path)),
    'The package has sources, tests or secrets.',
  );
  writeFileSync(join(into, 'package.json'), '{"private": true}\n');
  npm('install', `./${filename}`, '--no-audit', '--no-fund', '--loglevel=error');
  const installed = join(into, 'node_modules');
  const unwanted = OF_DEVELOPMENT.filter((name) => existsSync(join(installed, name)));
  check(unwanted.length === 0, `The installation has development dependencies: ${unwanted.join(', ')}.`);
  check(readdirSync(join(installed, 'gatehouse', 'dist')).length > 0, 'The package has no build.');
  return join(installed, '.bin', 'gatehouse');
}

async function serve(bin, dataDir) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_PORT: String(port),
    GATEHOUSE_PROCESSES: '1',
  };
  check(
    execFileSync(bin, ['--version'], { env: environment, encoding: 'utf8' }).trim() === version,
    `The installed command is not version ${version}.`,
  );
  const service = spawn(bin, ['start'], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (bytes) => (output += bytes));
  try {
    const deadline = Date.now() + START_WITHIN_MS;
    while (!(await isReady(base))) {
      check(service.exitCode === null && Date.now() < deadline, `The service does not start:\n${output}`);
      await sleep(POLL_MS);
    }
    const { workspace_api_key: key } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'));
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': key,
        'x-gateway-provider': 'sandbox',
      },
      body: JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const text = await response.text();
    check(
      response.ok && JSON.parse(text).object === 'chat.completion',
      `The request failed: ${response.status} ${text}`,
    );
    const page = await fetch(`${base}/ui/`);
    check((await page.text()).includes('<title>Gatehouse</title>'), 'The package lacks the dashboard.');
  } finally {
    const ended = service.exitCode === null ? once(service, 'exit') : null;
    service.kill('SIGTERM');
    await ended;
  }
}

async function isReady(base) {
  return fetch(`${base}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function check(holds, message) {
  if (!holds) throw new Error(message);
}
