import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findBinaries, type PostgresBinaries } from '../../src/cli/postgres/binaries.js';
import { findRunAs, type RunAs } from '../../src/cli/postgres/unprivileged.js';
import { freePort } from './ports.js';
import { eventually } from './waiting.js';

const MINIMAL = { cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } } as const;

/** A folder with an empty PostgreSQL of a test, and the programs of the embedded one, run as the launcher runs them. */
export class PostgresCluster {
  private constructor(
    readonly folder: string,
    readonly port: number,
    private readonly binaries: PostgresBinaries,
    private readonly runAs: RunAs,
  ) {}

  /** `from`: the module whose dependency the programs are; default: the service's own. */
  static async make(
    name: string,
    flags: readonly string[] = [],
    from?: string | URL,
  ): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`));
    const binaries = await findBinaries(from);
    const runAs = findRunAs(binaries.root, folder);
    if (runAs.owner) chownSync(folder, runAs.owner.uid, runAs.owner.gid);
    const settings = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', ...flags];
    const [command = '', ...args] = [...runAs.prefix, binaries.initdb, '-D', folder, ...settings];
    execFileSync(command, args, { ...MINIMAL, ...runAs.spawn, stdio: 'pipe' });
    return new PostgresCluster(folder, await freePort(), binaries, runAs);
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Starts the server in a process group of its own, and waits until it answers. One that ends at once is started again. */
  async start(settings: Readonly<Record<string, string | number>> = {}): Promise<ChildProcess> {
    let said = '';
    const run = (): ChildProcess => {
      const server = this.spawnServer(settings);
      server.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)));
      return server;
    };
    let server = run();
    const isThere = async (): Promise<boolean> => {
      if (server.exitCode !== null) server = run();
      return this.answers();
    };
    await eventually(isThere, { withinMs: 60_000, what: 'PostgreSQL' }).catch((cause: unknown) => {
      throw new Error(`The PostgreSQL of a test does not start on port ${this.port}:\n${said}`, { cause });
    });
    return server;
  }

  private spawnServer(settings: Readonly<Record<string, string | number>>): ChildProcess {
    const all = { port: this.port, listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
    const given = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const { prefix, spawn: user } = this.runAs;
    const [command = '', ...args] = [...prefix, this.binaries.postgres, '-D', this.folder, ...given];
    return spawn(command, args, { ...MINIMAL, ...user, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
