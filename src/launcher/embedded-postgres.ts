import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier } from 'pg';
import { Secret } from '../common/crypto/secret.js';
import { postgresClient } from '../common/database/sessions/postgres-connections.js';
import { createLogger } from '../common/observability/logger.js';
import { pathsOf } from './data-folder.js';
import { LauncherError } from './launcher-error.js';
import { findBinaries } from './postgres/binaries.js';
import { type Cluster, DATABASE_USER, openCluster } from './postgres/cluster-folder.js';
import { type ServerPlan, ServerProcess } from './postgres/server-process.js';
import { clearStalePostmaster } from './postgres/stale-postmaster.js';
import { findRunAs } from './postgres/unprivileged.js';
import { BackOff } from './processes/back-off.js';
import { findPort } from './processes/free-port.js';

const DATABASE = 'gatehouse';
const POLL_MS = 15;
const START_ATTEMPTS = 5;
const RETRY_MS = 300;

const logger = createLogger('postgres');

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly maxConnections: number;
  /** The server died and does not come back. */
  readonly onLost?: (error: Error) => void;
}

/**
 * A real PostgreSQL in the data folder, for this instance alone: on 127.0.0.1 with a port and a password of its own.
 * A server that dies is started again on the same port, so that its clients find it again.
 * The caller holds the lock of the data folder.
 */
export class EmbeddedPostgres {
  readonly #backOff = new BackOff();
  #stopping = false;

  private constructor(
    private readonly plan: ServerPlan,
    private readonly cluster: Cluster,
    private readonly options: EmbeddedPostgresOptions,
    private server: ServerProcess,
  ) {
    this.#watch();
  }

  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const folder = pathsOf(options.dataDir).postgres;
    const binaries = await findBinaries();
    const runAs = findRunAs(binaries.root, options.dataDir);
    await clearStalePostmaster(folder);
    const cluster = await openCluster(folder, binaries, runAs);
    const { maxConnections } = options;
    let lastWords = '';
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
      const plan = { binaries, runAs, folder, port: await findPort('127.0.0.1', 0), maxConnections, logger };
      const server = new ServerProcess(plan);
      if (await comesUp(server, plan, cluster)) return new EmbeddedPostgres(plan, cluster, options, server);
      lastWords = server.lastWords;
      await sleep(RETRY_MS);
    }
    throw new LauncherError(`The embedded PostgreSQL in ${folder} does not start:\n${lastWords}`);
  }

  /** Where clients connect. Stays the same while this instance lives. */
  get url(): Secret {
    return urlOf(this.plan.port, this.cluster.password, DATABASE);
  }

  /** Whether this start made the data folder. */
  get fresh(): boolean {
    return this.cluster.fresh;
  }

  get pid(): number | undefined {
    return this.server.pid;
  }

  /** Stops the server; with `hurry` without the orderly step, which the next start makes up for by recovery. */
  async stop(hurry = false): Promise<void> {
    this.#stopping = true;
    await this.server.stop(hurry);
  }

  #watch(): void {
    this.#backOff.started();
    void this.server.exited.then(() => this.#revive());
  }

  async #revive(): Promise<void> {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
      if (this.#stopping) return;
      logger.error({ lastWords: this.server.lastWords }, 'The embedded PostgreSQL ended. Starting it again.');
      await sleep(this.#backOff.next());
      if (this.#stopping) return;
      await clearStalePostmaster(this.plan.folder);
      // Known before it is up, so that a stop in between reaches it.
      this.server = new ServerProcess(this.plan);
      if (await comesUp(this.server, this.plan, this.cluster)) return this.#watch();
    }
    if (this.#stopping) return;
    this.options.onLost?.(
      new LauncherError(`The embedded PostgreSQL ended and does not start again:\n${this.server.lastWords}`),
    );
  }
}

/** True once the server takes connections and the database is there, false when it ended before. */
async function comesUp(server: ServerProcess, { port }: ServerPlan, { password }: Cluster): Promise<boolean> {
  while (server.running) {
    if (await databaseAnswers(port, password)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/**
 * After a crash the server recovers first, for as long as that takes; it refuses connections meanwhile.
 * The database is made here and not with the folder, so a kill in between is made up for by the next start.
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
