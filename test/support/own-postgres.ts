import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresCluster } from './postgres-cluster.js';

/** A durable PostgreSQL of one test's own, which it may kill. */
export class OwnPostgres {
  private server: ChildProcess | null = null;

  private constructor(private readonly cluster: PostgresCluster) {}

  static async create(): Promise<OwnPostgres> {
    const postgres = new OwnPostgres(await PostgresCluster.make('own-postgres'));
    await postgres.start();
    return postgres;
  }

  get url(): string {
    return this.cluster.url;
  }

  async start(): Promise<void> {
    rmSync(join(this.cluster.folder, 'postmaster.pid'), { force: true });
    this.server = await this.cluster.start();
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
    this.cluster.remove();
  }
}
