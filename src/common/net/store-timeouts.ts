/** Time limits of one use of a store, in milliseconds. */
export interface StoreTimeouts {
  /** Connecting, including authentication. */
  readonly connectMs: number;
  /** Response to a command. After that the command fails, and its connection is closed, so that the next use opens another. */
  readonly commandMs: number;
  /** Lifetime of an idle connection; 0 if one connection is kept for the lifetime of the process. */
  readonly idleMs: number;
  /**
   * Silence after which TCP probes the peer; a lost peer is detected 10 s later:
   * https://nodejs.org/api/net.html#socketsetkeepaliveenable-initialdelay
   */
  readonly keepAliveMs: number;
}

/** Time limits of a store that can cancel commands: it does so first, and reports why. */
export interface ServerTimeouts extends StoreTimeouts {
  /** Until the server cancels a command, 0 for never. Shorter than `commandMs`, so that the error comes from the server. */
  readonly serverMs: number;
}

export interface PostgresTimeouts extends ServerTimeouts {
  /** Until the server ends an idle transaction, 0 for never: a process that stopped midway holds locks. */
  readonly idleTransactionMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Time limit of each check of `gatehouse doctor`. */
export const PROBING_MS = 5 * SECOND;

const PERSISTENT = { idleMs: 0, keepAliveMs: 10 * SECOND } as const;
const POOLED = { idleMs: 10 * SECOND, keepAliveMs: 10 * SECOND, idleTransactionMs: 30 * SECOND } as const;
/** Node's HTTP agents probe idle connections after one second: https://nodejs.org/api/http.html#new-agentoptions */
const HTTP = { connectMs: 5 * SECOND, keepAliveMs: SECOND } as const;

/**
 * Every time limit of every connection to a store. Nothing else sets one: a store that accepts but never responds, or a connection that is
 * silent after a failover, must cost each caller a known time and have no later effect.
 */
export const POSTGRES_TIMEOUTS = {
  /** A client is waiting: the gateway's reads, and the administration. */
  requests: { connectMs: 3 * SECOND, serverMs: 2 * SECOND, commandMs: 2.5 * SECOND, ...POOLED },
  /** Lists and analytics of logs, which may scan a lot. Two connections; a caller waits `connectMs` for one of them. */
  logReading: { connectMs: 2 * SECOND, serverMs: 5 * SECOND, commandMs: 6 * SECOND, ...POOLED },
  /** The worker: batches of rows, rollups, retention. */
  background: { connectMs: 3 * SECOND, serverMs: 30 * SECOND, commandMs: 35 * SECOND, ...POOLED },
  /** BullMQ's own statements, which affect few rows. */
  queues: { connectMs: 5 * SECOND, serverMs: 8 * SECOND, commandMs: 10 * SECOND, ...POOLED },
  /** Includes waiting for another process that prepares the same tables. */
  queueMigrations: { connectMs: 5 * SECOND, serverMs: 0, commandMs: MINUTE, ...POOLED },
  /** LISTEN: silent by nature, so it is probed every 10 s. */
  listening: {
    connectMs: 5 * SECOND,
    serverMs: 4 * SECOND,
    commandMs: 5 * SECOND,
    idleTransactionMs: 0,
    ...PERSISTENT,
  },
  /** Builds indexes of large tables, and waits for another instance doing so. TCP keep-alive detects a lost server meanwhile. */
  migrations: { connectMs: 3 * SECOND, serverMs: 0, commandMs: 6 * HOUR, ...POOLED },
  /** A start reads the schema; `doctor` and the clock check the server. */
  probing: { connectMs: 5 * SECOND, serverMs: 4 * SECOND, commandMs: 5 * SECOND, ...POOLED },
  /** Commands run by an operator: they read whole tables, and hold a snapshot for parallel readers. */
  commands: {
    connectMs: 5 * SECOND,
    serverMs: 0,
    commandMs: 6 * HOUR,
    ...POOLED,
    idleTransactionMs: 0,
  },
} as const satisfies Readonly<Record<string, PostgresTimeouts>>;

export const REDIS_TIMEOUTS = {
  /** Limits and cached responses. A request waits only 250 ms (`REDIS_ANSWER_MS`); this limit closes the connection. */
  requests: { connectMs: 5 * SECOND, commandMs: 2 * SECOND, ...PERSISTENT },
  /** Changes: the bus has a heartbeat every 10 s. */
  changes: { connectMs: 5 * SECOND, commandMs: 5 * SECOND, ...PERSISTENT },
  /** BullMQ's workers block for up to 10 s waiting for a job, which must not count as silence. */
  queues: { connectMs: 5 * SECOND, commandMs: 20 * SECOND, ...PERSISTENT },
  /** `doctor` and readiness. */
  probing: { connectMs: 5 * SECOND, commandMs: 5 * SECOND, ...PERSISTENT },
} as const satisfies Readonly<Record<string, StoreTimeouts>>;

/** How long a request waits for a response of Redis. After that it continues without one. */
export const REDIS_ANSWER_MS = 250;

/**
 * Over HTTP: connecting counts as silence of the command. The idle limit is below that of usual servers (3 s), so that no request uses a
 * connection that is being closed.
 */
export const CLICKHOUSE_TIMEOUTS = {
  reading: { serverMs: 5 * SECOND, commandMs: 7 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
  /** Shorter than the idle limit of a PostgreSQL transaction (30 s): the one that marks the batch as stored waits for it. */
  storing: { serverMs: 20 * SECOND, commandMs: 20 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
  probing: { serverMs: 4 * SECOND, commandMs: 5 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
} as const satisfies Readonly<Record<string, ServerTimeouts>>;

export const OBJECT_STORE_TIMEOUTS = {
  /** `commandMs` limits silence: a large file may take as long as data flows. */
  files: { commandMs: 30 * SECOND, idleMs: 15 * SECOND, ...HTTP },
  /** A part of an object, retries included: a user is waiting. */
  parts: { commandMs: 15 * SECOND, idleMs: 15 * SECOND, ...HTTP },
} as const satisfies Readonly<Record<string, StoreTimeouts>>;

/** `commandMs` limits silence: servers delay responses to slow down senders. One mail per connection. */
export const SMTP_TIMEOUTS = {
  connectMs: 10 * SECOND,
  commandMs: 20 * SECOND,
  idleMs: 0,
  keepAliveMs: SECOND,
} as const satisfies StoreTimeouts;

/** `commandMs` limits one delivery with all its retries. What a collector did not accept is delivered again later. */
export const OTLP_TIMEOUTS: StoreTimeouts = { commandMs: 10 * SECOND, idleMs: 15 * SECOND, ...HTTP };
