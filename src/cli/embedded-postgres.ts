import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier } from 'pg';
import { Secret } from '../common/settings/secret.js';
import { postgresClient } from '../database/sessions/postgres-connections.js';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { pathsOf } from './data-folder.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { findBinaries } from './postgres/binaries.js';
import { type Cluster, DATABASE_USER, openCluster } from './postgres/cluster-folder.js';
import { type ServerPlan, ServerProcess } from './postgres/server-process.js';
import { clearStalePostmaster } from './postgres/stale-postmaster.js';
import { findRunAs } from './postgres/unprivileged.js';
import { BackOff } from './processes/back-off.js';
import { findPort } from './processes/free-port.js';

const DATABASE = 'gatehouse';
const POLL_MS = 15;
/** Consecutive failed starts before the failure is reported. */
const FAILED_STARTS = 5;

const logger = createLogger('postgres');
const report = reportSparsely(logger);

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly maxConnections: number;
}

/**
 * A PostgreSQL in the data folder for this instance only, on 127.0.0.1 with its own port and password. A server that ends, or does not
 * start, is restarted for the lifetime of this instance, at most every 5 s; meanwhile gateways serve from their snapshot. The port stays
 * the same, so that clients reconnect. The caller holds the lock of the data folder.
 */
export class EmbeddedPostgres {
  private readonly backOff = new BackOff();
  private readonly stopping = new AbortController();
  private server: ServerProcess | null = null;
  private isUp = false;
  private failedStarts = 0;
  private reason = '';
  /** The port is in use by clients. Before that, each start may choose another one, in case it was taken. */
  private isPortGiven = false;
  private readonly keeping: Promise<void>;

  private constructor(
    private plan: ServerPlan,
    private readonly cluster: Cluster,
  ) {
    this.keeping = this.keep();
  }

  /** Opens or creates PostgreSQL's folder, and starts the server. `untilUp` waits for it. */
  static async start({ dataDir, maxConnections }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const folder = pathsOf(dataDir).postgres;
    const binaries = await findBinaries();
    const runAs = findRunAs(binaries.root, dataDir);
    await clearStalePostmaster(folder);
    const cluster = await openCluster(folder, binaries, runAs);
    const port = await findPort('127.0.0.1', 0);
    return new EmbeddedPostgres({ binaries, runAs, folder, port, maxConnections, logger }, cluster);
  }

  /** The URL for clients. Stays the same from the first call on. */
  get url(): Secret {
    this.isPortGiven = true;
    return urlOf(this.plan.port, this.cluster.password, DATABASE);
  }

  /** Whether this start created the data folder. */
  get fresh(): boolean {
    return this.cluster.fresh;
  }

  get pid(): number | undefined {
    return this.server?.pid;
  }

  /**
   * Resolves when the server accepts connections. Rejects with `DatabaseUnavailable` after five failed starts in a row, or when recovery
   * takes longer than this (milliseconds); restarts continue regardless.
   */
  async untilUp(timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.isUp) {
      const { folder } = this.plan;
      if (this.failedStarts >= FAILED_STARTS)
        throw new DatabaseUnavailable(`The embedded PostgreSQL in ${folder} does not start:\n${this.reason}`);
      if (performance.now() > deadline || this.stopping.signal.aborted)
        throw new DatabaseUnavailable(
          `The embedded PostgreSQL in ${folder} is not up yet; it may be recovering.`,
        );
      await sleep(POLL_MS);
    }
  }

  /** Stops the server; with `hurry` without a clean shutdown, so that the next start has to recover. */
  async stop(hurry = false): Promise<void> {
    this.stopping.abort();
    await this.server?.stop(hurry);
    await this.keeping;
  }

  private async keep(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      this.backOff.started();
      const reason = await this.run().catch((error: unknown) => String(error));
      this.isUp = false;
      if (signal.aborted) return;
      this.failedStarts += 1;
      this.reason = reason;
      report('The embedded PostgreSQL stopped or did not start. Restarting it.', new Error(reason));
      await sleep(this.backOff.next(), undefined, { signal }).catch(() => undefined);
    }
  }

  /** One run of the server. Resolves with its last output when it has ended. */
  private async run(): Promise<string> {
    await clearStalePostmaster(this.plan.folder);
    if (!this.isPortGiven) this.plan = { ...this.plan, port: await findPort('127.0.0.1', 0) };
    if (this.stopping.signal.aborted) return '';
    const server = new ServerProcess(this.plan);
    this.server = server;
    if (await comesUp(server, this.plan, this.cluster)) {
      this.isUp = true;
      this.failedStarts = 0;
      await server.exited;
    }
    return server.lastWords;
  }
}

/** True once the server accepts connections and the database exists, false when it ended before. */
async function comesUp(server: ServerProcess, { port }: ServerPlan, { password }: Cluster): Promise<boolean> {
  while (server.running) {
    if (await databaseAnswers(port, password)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/**
 * After a crash the server recovers first, however long that takes, and refuses connections meanwhile. The database is created here instead
 * of with the folder, so that after a kill in between the next start creates it.
 */
async function databaseAnswers(port: number, password: string): Promise<boolean> {
  const client = postgresClient('probing', {
    connectionString: urlOf(port, password, 'postgres').reveal(),
    application_name: 'gatehouse launcher',
  });
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(DATABASE)}`);
    return true;
  } catch {
    return false;
  } finally {
    // Not awaited: after a connection that the server refused, pg's `end` may never settle.
    void client.end().catch(() => undefined);
  }
}

function urlOf(port: number, password: string, database: string): Secret {
  return new Secret(`postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${database}`);
}
