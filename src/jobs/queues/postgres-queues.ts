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

/** The schema of BullMQ's tables. BullMQ owns it: our migrations do not touch it. */
const SCHEMA = 'bullmq';

/**
 * Maximum connections per queue object. A process that announces batches holds up to 2; one that works on them up to 5: 2 to announce, 2 to
 * fetch and finish jobs, and 1 that listens.
 */
const POOL_SIZE = 2;

const MIGRATION_PAUSE = { firstMs: 250, maxMs: 10_000 };

/** BullMQ's connection to PostgreSQL. It uses LISTEN, so a pooler must keep sessions (PgBouncer: `pool_mode = session`). */
export function postgresQueues(databaseUrl: Secret): PostgresConnectionOptions {
  const limits = postgresLimits('queues');
  return {
    ...limits,
    // BullMQ creates the listening connection from the same options, without our client.
    query_timeout: limits.commandMs,
    ...poolConfig(databaseUrl),
    schema: SCHEMA,
    max: POOL_SIZE,
  };
}

/**
 * The PostgreSQL backend of a queue. BullMQ's own factory creates a connection that reads the schema version once and caches a failure for
 * its lifetime: its worker then polls in a tight loop that starves the rest of the process.
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

/** Connects to a schema that `migrateQueueSchema` has prepared: no version check is needed, and each statement fails on its own. */
class PreparedConnection extends PostgresConnection {
  override waitUntilReady(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Creates or updates BullMQ's schema, waiting until the database is available. It runs before any queue object exists. BullMQ serializes
 * concurrent migrations with an advisory lock.
 */
export async function migrateQueueSchema(databaseUrl: Secret, log: Logger): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await migrateOnce(databaseUrl);
    } catch (error) {
      const pauseMs = retryPauseMs(failures, MIGRATION_PAUSE);
      log.warn({ err: error, retry_in_ms: pauseMs }, 'The queue schema could not be prepared.');
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

/** Removes `options` from the URL: BullMQ sets the search path through the same option of `pg`, and the URL's would replace it. */
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
