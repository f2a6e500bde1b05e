import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataFolder } from '../../src/cli/data-folder.js';
import { logger } from '../../src/common/observability/logger.js';
import { EmbeddedPostgres } from '../../src/cli/embedded-postgres.js';
import { findBinaries } from '../../src/cli/postgres/binaries.js';
import { ServerProcess } from '../../src/cli/postgres/server-process.js';
import { findRunAs } from '../../src/cli/postgres/unprivileged.js';
import { findPort } from '../../src/cli/processes/free-port.js';
import { isAvailable } from '../support/machine.js';
import { isAlive } from '../support/process-tree.js';
import { eventually, sleep } from '../support/waiting.js';

let parent: string;
let dataDir: string;
const running: EmbeddedPostgres[] = [];

async function start(): Promise<EmbeddedPostgres> {
  await openDataFolder(dataDir);
  const server = await EmbeddedPostgres.start({ dataDir, maxConnections: 20 });
  running.push(server);
  await server.untilUp();
  return server;
}

/** Also of a server that failed so often that `untilUp` says so at once. */
const untilUp = (server: EmbeddedPostgres | undefined) =>
  eventually(() => server?.untilUp(0).then(() => true), { what: 'the server to be back' });

/** A server without a launcher that would look after it. */
async function startOrphan(): Promise<ServerProcess> {
  const folder = join(dataDir, 'postgres');
  const binaries = await findBinaries();
  const runAs = findRunAs(binaries.root, dataDir);
  const port = await findPort('127.0.0.1', 0);
  const orphan = new ServerProcess({ binaries, runAs, folder, port, maxConnections: 20, logger });
  await eventually(async () => (await readFile(join(folder, 'postmaster.pid'), 'utf8')).includes('ready'), {
    what: 'the orphan',
  });
  return orphan;
}

async function ask(server: EmbeddedPostgres, statement: string): Promise<unknown> {
  const client = new Client({ connectionString: server.url.reveal() });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows[0]?.['value'];
  } finally {
    await client.end();
  }
}

describe('EmbeddedPostgres', () => {
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-postgres-'));
    await chmod(parent, 0o755);
    dataDir = join(parent, 'data');
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop(true)));
    await rm(parent, { recursive: true, force: true });
  });

  it('makes a PostgreSQL 18 that keeps what it acknowledged, across an orderly stop', async () => {
    const first = await start();
    expect(first.fresh).toBe(true);
    expect(await ask(first, "SELECT current_setting('server_version_num')::int / 10000 AS value")).toBe(18);
    expect(
      await ask(first, "SELECT current_setting('fsync') || current_setting('synchronous_commit') AS value"),
    ).toBe('onon');
    await ask(first, 'CREATE TABLE kept AS SELECT 42 AS value');
    await first.stop();

    const second = await start();

    expect(second.fresh).toBe(false);
    expect(await ask(second, 'SELECT value FROM kept')).toBe(42);
  });

  it('requires a password, which is in a file for its owner alone, and gives each folder another', async () => {
    const server = await start();
    const wrong = new Client({ connectionString: server.url.reveal().replace(/:[^:@]+@/, ':wrong@') });

    await expect(wrong.connect()).rejects.toThrow('password authentication failed');
    const { mode } = await stat(join(dataDir, 'postgres', 'password'));
    expect(mode & 0o777).toBe(0o600);
    expect(server.url.reveal()).toContain(await readFile(join(dataDir, 'postgres', 'password'), 'utf8'));
    expect(await ask(server, "SELECT current_setting('unix_socket_directories') AS value")).toBe('');
  });

  it('comes back on the same address when it is killed, with what it had acknowledged', async () => {
    const server = await start();
    const url = server.url.reveal();
    await ask(server, 'CREATE TABLE kept AS SELECT 42 AS value');

    process.kill(server.pid ?? 0, 'SIGKILL');

    expect(
      await eventually(() => ask(server, 'SELECT value FROM kept'), { what: 'the server to be back' }),
    ).toBe(42);
    expect(server.url.reveal()).toBe(url);
  });

  it('takes over from a server that a killed launcher left running', async () => {
    const first = await start();
    await ask(first, 'CREATE TABLE kept AS SELECT 42 AS value');
    await first.stop();
    const orphan = await startOrphan();

    const next = await start();

    expect(await ask(next, 'SELECT value FROM kept')).toBe(42);
    expect(orphan.running).toBe(false);
  });

  it('starts when postmaster.pid names a process that is something else', async () => {
    await (await start()).stop();
    await writeFile(
      join(dataDir, 'postgres', 'postmaster.pid'),
      `${process.ppid}\n${join(dataDir, 'postgres')}\n`,
    );

    expect(await ask(await start(), 'SELECT 1 AS value')).toBe(1);
  });

  it('deletes what an interrupted initdb left', async () => {
    await mkdir(join(dataDir, 'postgres.init-abc123', 'cluster', 'base'), { recursive: true });

    const server = await start();

    expect(server.fresh).toBe(true);
    expect(existsSync(join(dataDir, 'postgres.init-abc123'))).toBe(false);
  });

  it('says in a sentence that the folder belongs to another major version', async () => {
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '15\n');

    await expect(start()).rejects.toThrow('belongs to PostgreSQL 15, and this release brings 18');
  });

  it.runIf(isAvailable('The right to become root', process.getuid?.() === 0, 'Run the tests as root.'))(
    'works for root under a folder that only root may enter, and after it was closed',
    async () => {
      const open = await start();
      await ask(open, 'CREATE TABLE kept AS SELECT 42 AS value');
      await open.stop();
      expect((await stat(join(dataDir, 'postgres'))).uid).not.toBe(0);

      await chmod(parent, 0o700);
      const closed = await start();

      expect(await ask(closed, 'SELECT value FROM kept')).toBe(42);
      expect((await stat(join(dataDir, 'postgres'))).uid).toBe(0);
    },
  );

  it('keeps trying for as long as the server does not start, and is back on the same address when it can', async () => {
    const server = await start();
    const url = server.url.reveal();
    await ask(server, 'CREATE TABLE kept AS SELECT 42 AS value');
    const global = join(dataDir, 'postgres', 'global');

    await rename(global, `${global}.away`);
    process.kill(server.pid ?? 0, 'SIGKILL');
    // Well beyond the five tries in a row after which it was given up.
    await eventually(
      () =>
        server.untilUp(0).then(
          () => false,
          (error: unknown) => String(error).includes('does not start'),
        ),
      {
        what: 'the sentence that says so',
      },
    );
    await sleep(2_000);
    await rename(`${global}.away`, global);

    await untilUp(server);
    expect(await ask(server, 'SELECT value FROM kept')).toBe(42);
    expect(server.url.reveal()).toBe(url);
  });

  it('says why the server does not start, and starts it when the reason is gone', async () => {
    await (await start()).stop();
    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    await rename(control, `${control}.away`);

    await expect(start()).rejects.toThrow(/does not start:\n.*pg_control/s);
    await rename(`${control}.away`, control);

    await untilUp(running.at(-1));
  });

  it('waits longer between two tries, up to five seconds', async () => {
    await (await start()).stop();
    await rename(join(dataDir, 'postgres', 'global'), join(dataDir, 'postgres', 'away'));
    const server = await EmbeddedPostgres.start({ dataDir, maxConnections: 20 });
    running.push(server);
    const pids = new Set<number | undefined>();
    const until = Date.now() + 6_000;
    while (Date.now() < until) {
      pids.add(server.pid);
      await sleep(5);
    }

    // At 0, 0.1, 0.3, 0.7, 1.5, 3.1 and 6.3 s, and what each of them takes.
    expect(pids.size).toBeGreaterThanOrEqual(4);
    expect(pids.size).toBeLessThanOrEqual(8);
  });

  it('stops while the server does not start', async () => {
    await (await start()).stop();
    await rename(join(dataDir, 'postgres', 'global'), join(dataDir, 'postgres', 'away'));
    const server = await EmbeddedPostgres.start({ dataDir, maxConnections: 20 });
    await sleep(500);
    const { pid = 0 } = server;

    await server.stop();

    await sleep(1_000);
    expect(server.pid).toBe(pid);
    expect(isAlive(pid)).toBe(false);
  });
});
