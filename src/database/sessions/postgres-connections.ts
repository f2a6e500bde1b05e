import pg from 'pg';
import { POSTGRES_TIMEOUTS, type PostgresTimeouts } from '../../common/net/store-timeouts.js';
import { AttributingPool } from './busy-pool.js';
import { StatementWatch } from './statement-watch.js';

/** The use of a connection, which determines its time limits. */
export type PostgresUse = keyof typeof POSTGRES_TIMEOUTS;

/**
 * A connection with an overdue response is closed, which fails everything waiting for it. The `query_timeout` of `pg` is no substitute: it
 * fails the statement but keeps the connection, on which all later statements wait for the missing response; and when rows are read one by
 * one, it never fails the reader, and buffers the rows.
 */
class TimedClient extends pg.Client {
  private readonly commandMs: number;
  private readonly watch: StatementWatch;
  private deadline: NodeJS.Timeout | undefined;

  constructor(config: pg.ClientConfig & { readonly commandMs: number; readonly use?: PostgresUse }) {
    super(config);
    this.commandMs = config.commandMs;
    this.watch = new StatementWatch(config.use ?? 'probing');
    // Emitted when all statements are answered.
    this.on('drain', () => this.answered()).on('end', () => this.answered());
  }

  override query(...given: unknown[]): never {
    this.watch.began(given[0]);
    this.deadline ??= setTimeout(() => this.giveUp(), this.commandMs).unref();
    return (super.query as (...all: unknown[]) => unknown).apply(this, given) as never;
  }

  private answered(): void {
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.watch.ended();
  }

  /** While a statement is unanswered, `end` destroys the socket instead of closing it gracefully. */
  private giveUp(): void {
    this.end().catch(() => undefined);
  }
}

/** Time limits under the names of `pg`, for its pools and clients and for packages that create them. */
export function postgresLimits(use: PostgresUse) {
  return { ...connectionLimits(POSTGRES_TIMEOUTS[use]), use };
}

/** With other limits, for tests. */
export function connectionLimits(timeouts: PostgresTimeouts) {
  const { connectMs, serverMs, commandMs, idleMs, keepAliveMs, idleTransactionMs } = timeouts;
  return {
    Client: TimedClient as unknown as new () => pg.ClientBase,
    connectionTimeoutMillis: connectMs,
    statement_timeout: serverMs,
    commandMs,
    idleTimeoutMillis: idleMs,
    idle_in_transaction_session_timeout: idleTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
}

/** A pool with the time limits of its use. Broken idle connections are reported to `onLost`, and replaced at the next use. */
export function postgresPool(
  use: PostgresUse,
  config: pg.PoolConfig & { readonly application_name: string },
  onLost: (error: Error) => void,
): pg.Pool {
  const pool = new AttributingPool({ ...postgresLimits(use), ...config });
  pool.on('error', onLost);
  // A connection that breaks in use fails its statement; without a listener, the event would still end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A single connection with the time limits of its use, not yet connected. Losing it fails its statements. */
export function postgresClient(
  use: PostgresUse,
  config: pg.ClientConfig & { readonly application_name: string },
): pg.Client {
  const client = new TimedClient({ ...postgresLimits(use), ...config });
  client.on('error', () => undefined);
  return client;
}
