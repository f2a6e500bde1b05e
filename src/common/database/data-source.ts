import { DataSource } from 'typeorm';
import { ApiKey } from './entities/api-key.entity.js';
import { AuditRecord } from './entities/audit-record.entity.js';
import { Organization } from './entities/organization.entity.js';
import { User } from './entities/user.entity.js';
import { VirtualKey } from './entities/virtual-key.entity.js';
import { WorkspaceMember } from './entities/workspace-member.entity.js';
import { Workspace } from './entities/workspace.entity.js';
import { Foundation1763690000000 } from './migrations/1763690000000-foundation.js';
import { RequestLogs1763690100000 } from './migrations/1763690100000-request-logs.js';
import { UsageMinute1763690200000 } from './migrations/1763690200000-usage-minute.js';
import { SnakeCaseNaming } from './snake-case-naming.js';

const ENTITIES = [ApiKey, AuditRecord, Organization, User, VirtualKey, Workspace, WorkspaceMember];

/** In the order in which they run. */
const MIGRATIONS = [Foundation1763690000000, RequestLogs1763690100000, UsageMinute1763690200000];

/**
 * How long a statement may take, milliseconds, and how long to wait for its answer: a connection that is silent for longer
 * than that swallows everything. A failed transaction waits twice, for the statement and for its undoing.
 */
interface Patience {
  readonly statementMs: number;
  readonly answerMs: number;
}

const PATIENCE = {
  requests: { statementMs: 2_000, answerMs: 2_500 },
  background: { statementMs: 30_000, answerMs: 35_000 },
  /** Bringing the schema up to date may take its time. */
  migrations: { statementMs: 0, answerMs: 0 },
} as const satisfies Record<string, Patience>;
const IDLE_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The relational store. Entities and migrations are listed by hand: file patterns would name other files in
 * compiled code than in tests.
 *
 * `poolSize` is the number of connections at most. `use` says how long a statement may take, so that a slow one cannot
 * hold up who waits for it.
 */
export function createDataSource(
  url: string,
  poolSize = 8,
  use: keyof typeof PATIENCE = 'requests',
): DataSource {
  const { statementMs, answerMs } = PATIENCE[use];
  return new DataSource({
    type: 'postgres',
    url,
    poolSize,
    applicationName: 'gatehouse',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    migrationsTableName: 'migrations',
    namingStrategy: new SnakeCaseNaming(),
    installExtensions: false,
    extra: {
      statement_timeout: statementMs,
      query_timeout: answerMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    },
  });
}
