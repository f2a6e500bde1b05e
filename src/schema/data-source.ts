import { DataSource } from 'typeorm';
import { POSTGRES_TIMEOUTS } from '../common/net/store-timeouts.js';
import { ATTRIBUTING_DRIVER } from '../database/sessions/busy-pool.js';
import { postgresLimits, type PostgresUse } from '../database/sessions/postgres-connections.js';
import { ENTITIES, MIGRATIONS } from './entities-and-migrations.js';
import { SnakeCaseNaming } from './snake-case-naming.js';

/**
 * The relational store. A released migration is never changed or removed: databases exist that have run it. The first fourteen create the
 * schema of 0.1.0.
 *
 * `poolSize` is the most connections. `use` sets the statement timeout, so that a slow statement cannot block its caller.
 */
export function createDataSource(url: string, poolSize = 8, use: PostgresUse = 'requests'): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: ATTRIBUTING_DRIVER,
    url,
    poolSize,
    applicationName: 'gatehouse',
    connectTimeoutMS: POSTGRES_TIMEOUTS[use].connectMs,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    migrationsTableName: 'migrations',
    namingStrategy: new SnakeCaseNaming(),
    installExtensions: false,
    extra: postgresLimits(use),
  });
}
