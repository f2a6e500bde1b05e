import pg from 'pg';
import { POSTGRES_TIMEOUTS, type PostgresTimeouts } from '../../common/net/store-timeouts.js';

/** For what a connection is used, which decides on its time limits. */
export type PostgresUse = keyof typeof POSTGRES_TIMEOUTS;

/**
 * A connection that owes an answer for too long is closed, which fails whatever waits for it. The `query_timeout` of `pg` is no
 * substitute: it fails the statement and keeps the connection, behind whose answer all later statements wait; and where rows
 * are read one by one it never fails the reader, and collects the rows.
 */
class TimedClient extends pg.Client {
  readonly #commandMs: number;
  #deadline: NodeJS.Timeout | undefined;

  constructor(config: pg.ClientConfig & { readonly commandMs: number }) {
    super(config);
    this.#commandMs = config.commandMs;
    // Emitted when everything that was asked is answered.
    this.on('drain', () => this.#answered()).on('end', () => this.#answered());
  }

  override query(...given: unknown[]): never {
    this.#deadline ??= setTimeout(() => this.#giveUp(), this.#commandMs).unref();
    return (super.query as (...all: unknown[]) => unknown).apply(this, given) as never;
  }

  #answered(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  /** While a statement is unanswered, `end` destroys the socket instead of waiting for a goodbye. */
  #giveUp(): void {
    this.end().catch(() => undefined);
  }
}

/** Time limits under the names of `pg`, for its pools and clients and for packages that make these. */
export function postgresLimits(use: PostgresUse) {
  return limitsOf(POSTGRES_TIMEOUTS[use]);
}

/** With limits of one's own: for tests. */
export function limitsOf(timeouts: PostgresTimeouts) {
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

/** A pool with the time limits of its use. Its broken idle connections are reported to `onLost`, and replaced at the next use. */
export function postgresPool(
  use: PostgresUse,
  config: pg.PoolConfig & { readonly application_name: string },
  onLost: (error: Error) => void,
): pg.Pool {
  const pool = new pg.Pool({ ...postgresLimits(use), ...config });
  pool.on('error', onLost);
  // One that breaks in use fails its statement; without a listener the event would end the process all the same.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A single connection with the time limits of its use, not yet connected. Its loss fails its statements. */
export function postgresClient(
  use: PostgresUse,
  config: pg.ClientConfig & { readonly application_name: string },
): pg.Client {
  const client = new TimedClient({ ...postgresLimits(use), ...config });
  client.on('error', () => undefined);
  return client;
}
