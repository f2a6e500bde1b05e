/**
 * How long a statement may take, milliseconds, and how long to wait for its answer: a connection that is silent for longer
 * than that swallows everything. A failed transaction waits twice, for the statement and for its undoing.
 */
interface Patience {
  readonly statementMs: number;
  readonly answerMs: number;
}

export const PATIENCE = {
  requests: { statementMs: 2_000, answerMs: 2_500 },
  background: { statementMs: 30_000, answerMs: 35_000 },
  /** Bringing the schema up to date may take its time. */
  migrations: { statementMs: 0, answerMs: 0 },
} as const satisfies Record<string, Patience>;

const IDLE_TRANSACTION_TIMEOUT_MS = 30_000;
export const CONNECT_TIMEOUT_MS = 3_000;

/** What a session tells PostgreSQL, under the names of `pg`. */
export function sessionLimits({ statementMs, answerMs }: Patience) {
  return {
    statement_timeout: statementMs,
    query_timeout: answerMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
  };
}
