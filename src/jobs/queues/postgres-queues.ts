import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  runMigrations,
} from 'bullmq';
import { retryPauseMs } from '../../common/loops/retry-pause.js';
import type { Secret } from '../../common/settings/secret.js';
import { postgresClient, postgresLimits } from '../../database/sessions/postgres-connections.js';
import type { Logger } from '../../common/observability/logger.js';

/** The schema that holds BullMQ's tables. It is BullMQ's own: no migration of ours touches it. */
const SCHEMA = 'bullmq';

/**
 * Connections of one queue object at most. A process that announces batches holds up to 2; one that works on them
 * up to 5: 2 to announce, 2 to fetch and finish jobs, and 1 that listens.
 */
const POOL_SIZE = 2;

const MIGRATION_PAUSE = { firstMs: 250, maxMs: 10_000 };

/**
 * How BullMQ reaches PostgreSQL. It listens for NOTIFY, so behind a pooler this needs a connection that keeps its
 * session (PgBouncer: `pool_mode = session`).
 */
export function postgresQueues(databaseUrl: Secret): PostgresConnectionOptions {
  const limits = postgresLimits('queues');
  return {
    ...limits,
    // BullMQ makes the connection that listens from the same options, without our client.
    query_timeout: limits.commandMs,
    ...poolConfig(databaseUrl),
    schema: SCHEMA,
    max: POOL_SIZE,
  };
}

/**
 * What stands behind a queue in PostgreSQL. BullMQ's own factory makes a connection that asks once for the schema's version, and
 * remembers a failure of that question for as long as it lives: its worker then asks for jobs without ever waiting for anything, and
 * nothing else in the process gets its turn.
 */
export const postgresBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
  { withBlockingConnection = false } = {},
) =>
  new PostgresQueueBackend(
    new PreparedConnection(options.connection),
    name,
    options,
    true,
    withBlockingConnection ? name : undefined,
  );

/** Connections to a schema that `migrateQueueSchema` has prepared: there is nothing left to ask, and each statement fails for itself. */
class PreparedConnection extends PostgresConnection {
  override waitUntilReady(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Makes or updates BullMQ's schema, and waits until the database is there to do so. It runs before any queue object exists.
 * BullMQ serialises processes that migrate at the same time by an advisory lock.
 */
export async function migrateQueueSchema(databaseUrl: Secret, log: Logger): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await migrateOnce(databaseUrl);
    } catch (error) {
      const pauseMs = retryPauseMs(failures, MIGRATION_PAUSE);
      log.warn({ err: error, retry_in_ms: pauseMs }, 'the queue schema could not be prepared');
      await sleep(pauseMs);
    }
  }
}

async function migrateOnce(databaseUrl: Secret): Promise<void> {
  const client = postgresClient('queueMigrations', poolConfig(databaseUrl));
  await client.connect();
  try {
    await runMigrations(client, SCHEMA);
  } finally {
    await client.end();
  }
}

/**
 * `options` of the URL are taken out of it: BullMQ sets the search path through the same option of `pg`, and what
 * stands in the URL would replace it.
 */
function poolConfig(databaseUrl: Secret) {
  const url = new URL(databaseUrl.reveal());
  const options = url.searchParams.get('options');
  url.searchParams.delete('options');
  return {
    connectionString: url.href,
    application_name: 'gatehouse-queues',
    ...(options ? { options } : {}),
  };
}
