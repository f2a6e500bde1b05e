/** How long one use of a store may take, in milliseconds. */
export interface StoreTimeouts {
  /** Until a connection is established and authenticated. */
  readonly connectMs: number;
  /** Until a command is answered. Then it fails, and a connection that owes the answer is closed, so that the next use opens another. */
  readonly commandMs: number;
  /** How long a connection is kept that nothing uses; 0 where one connection lives as long as the process. */
  readonly idleMs: number;
  /** Silence after which TCP probes the other side, which a lost peer fails 10 s later: https://nodejs.org/api/net.html#socketsetkeepaliveenable-initialdelay */
  readonly keepAliveMs: number;
}

/** A store that can cancel a command by itself does so first, and says why. */
export interface ServerTimeouts extends StoreTimeouts {
  /** Until the server cancels a command, 0 for never. Shorter than `commandMs`, so that the answer is the server's. */
  readonly serverMs: number;
}

export interface PostgresTimeouts extends ServerTimeouts {
  /** Until the server ends a transaction in which nothing happens, 0 for never: a process that stopped in its middle holds locks. */
  readonly idleTransactionMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long each check of `gatehouse doctor` may take. */
export const PROBING_MS = 5 * SECOND;

const PERSISTENT = { idleMs: 0, keepAliveMs: 10 * SECOND } as const;
const POOLED = { idleMs: 10 * SECOND, keepAliveMs: 10 * SECOND, idleTransactionMs: 30 * SECOND } as const;
/** Node's HTTP agents probe idle connections after one second: https://nodejs.org/api/http.html#new-agentoptions */
const HTTP = { connectMs: 5 * SECOND, keepAliveMs: SECOND } as const;

/**
 * Every time limit of every connection to a store. Nothing else sets one: a store that accepts and never answers, or a connection
 * that is silent after a failover, must cost each caller a known time and nothing afterwards.
 */
export const POSTGRES_TIMEOUTS = {
  /** A client waits: the gateway's reads, and the administration. */
  requests: { connectMs: 3 * SECOND, serverMs: 2 * SECOND, commandMs: 2.5 * SECOND, ...POOLED },
  /** Lists and analytics of logs, which may scan much. Two connections; a caller waits `connectMs` for one of them. */
  logReading: { connectMs: 2 * SECOND, serverMs: 5 * SECOND, commandMs: 6 * SECOND, ...POOLED },
  /** The worker: batches of rows, rollups, retention. */
  background: { connectMs: 3 * SECOND, serverMs: 30 * SECOND, commandMs: 35 * SECOND, ...POOLED },
  /** BullMQ's own statements, each a few rows. */
  queues: { connectMs: 5 * SECOND, serverMs: 8 * SECOND, commandMs: 10 * SECOND, ...POOLED },
  /** Includes the wait for another process that prepares the same tables. */
  queueMigrations: { connectMs: 5 * SECOND, serverMs: 0, commandMs: MINUTE, ...POOLED },
  /** LISTEN: silent by nature, so it is asked something every 10 s. */
  listening: {
    connectMs: 5 * SECOND,
    serverMs: 4 * SECOND,
    commandMs: 5 * SECOND,
    idleTransactionMs: 0,
    ...PERSISTENT,
  },
  /** Builds indexes of large tables, and waits for another instance that does. TCP keep-alive notices a lost server meanwhile. */
  migrations: { connectMs: 3 * SECOND, serverMs: 0, commandMs: 6 * HOUR, ...POOLED },
  /** A start looks at the schema; `doctor` and the clock look at the server. */
  probing: { connectMs: 5 * SECOND, serverMs: 4 * SECOND, commandMs: 5 * SECOND, ...POOLED },
  /** Commands that an operator watches: they read whole tables, and hold a snapshot while others read in it. */
  commands: {
    connectMs: 5 * SECOND,
    serverMs: 0,
    commandMs: 6 * HOUR,
    ...POOLED,
    idleTransactionMs: 0,
  },
} as const satisfies Readonly<Record<string, PostgresTimeouts>>;

export const REDIS_TIMEOUTS = {
  /** Limits and cached answers. A request waits for 250 ms only (`REDIS_ANSWER_MS`); this ends the connection. */
  requests: { connectMs: 5 * SECOND, commandMs: 2 * SECOND, ...PERSISTENT },
  /** Changes: the heartbeat of the bus comes every 10 s. */
  changes: { connectMs: 5 * SECOND, commandMs: 5 * SECOND, ...PERSISTENT },
  /** BullMQ's workers block for up to 10 s to wait for a job, which must not count as silence. */
  queues: { connectMs: 5 * SECOND, commandMs: 20 * SECOND, ...PERSISTENT },
  /** `doctor` and readiness. */
  probing: { connectMs: 5 * SECOND, commandMs: 5 * SECOND, ...PERSISTENT },
} as const satisfies Readonly<Record<string, StoreTimeouts>>;

/** How long a request waits for an answer of Redis. Later ones are too late to be of use, and the request goes on without. */
export const REDIS_ANSWER_MS = 250;

/** Over HTTP: establishing a connection counts as silence of the command. The idle limit is below that of usual servers (3 s), so that no request meets a connection that is being closed. */
export const CLICKHOUSE_TIMEOUTS = {
  reading: { serverMs: 5 * SECOND, commandMs: 7 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
  /** Shorter than a transaction of PostgreSQL may be idle (30 s): the one that marks the batch as stored waits for it. */
  storing: { serverMs: 20 * SECOND, commandMs: 20 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
  probing: { serverMs: 4 * SECOND, commandMs: 5 * SECOND, idleMs: 2.5 * SECOND, ...HTTP },
} as const satisfies Readonly<Record<string, ServerTimeouts>>;

export const OBJECT_STORE_TIMEOUTS = {
  /** `commandMs` is silence: a large file travels for as long as it moves. */
  files: { commandMs: 30 * SECOND, idleMs: 15 * SECOND, ...HTTP },
  /** A part of an object, all tries together: a user waits. */
  parts: { commandMs: 15 * SECOND, idleMs: 15 * SECOND, ...HTTP },
} as const satisfies Readonly<Record<string, StoreTimeouts>>;

/** `commandMs` is silence: servers delay their answers to slow senders down. A connection carries one mail. */
export const SMTP_TIMEOUTS = {
  connectMs: 10 * SECOND,
  commandMs: 20 * SECOND,
  idleMs: 0,
  keepAliveMs: SECOND,
} as const satisfies StoreTimeouts;

/** `commandMs` is one delivery with all its tries. What a collector did not take is delivered again later. */
export const OTLP_TIMEOUTS: StoreTimeouts = { commandMs: 10 * SECOND, idleMs: 15 * SECOND, ...HTTP };
