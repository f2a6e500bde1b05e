import { DataSource } from 'typeorm';
import { ApiKey } from './entities/api-key.entity.js';
import { AuditRecord } from './entities/audit-record.entity.js';
import { Config } from './entities/config.entity.js';
import { ConfigVersion } from './entities/config-version.entity.js';
import { InviteWorkspace } from './entities/invite-workspace.entity.js';
import { Invite } from './entities/invite.entity.js';
import { Mail } from './entities/mail.entity.js';
import { Organization } from './entities/organization.entity.js';
import { User } from './entities/user.entity.js';
import { VirtualKey } from './entities/virtual-key.entity.js';
import { WorkspaceMember } from './entities/workspace-member.entity.js';
import { Workspace } from './entities/workspace.entity.js';
import { Foundation1763690000000 } from './migrations/1763690000000-foundation.js';
import { RequestLogs1763690100000 } from './migrations/1763690100000-request-logs.js';
import { UsageMinute1763690200000 } from './migrations/1763690200000-usage-minute.js';
import { Authority1763690250000 } from './migrations/1763690250000-authority.js';
import { IdempotentAnswers1763690260000 } from './migrations/1763690260000-idempotent-answers.js';
import { OrganizationSettings1763690270000 } from './migrations/1763690270000-organization-settings.js';
import { RoutingConfigs1763690300000 } from './migrations/1763690300000-routing-configs.js';
import { People1763690800000 } from './migrations/1763690800000-people.js';
import { CONNECT_TIMEOUT_MS, PATIENCE, sessionLimits } from './patience.js';
import { SnakeCaseNaming } from './snake-case-naming.js';

const ENTITIES = [
  ApiKey,
  AuditRecord,
  Config,
  ConfigVersion,
  Invite,
  InviteWorkspace,
  Mail,
  Organization,
  User,
  VirtualKey,
  Workspace,
  WorkspaceMember,
];

/** In the order in which they run. */
const MIGRATIONS = [
  Foundation1763690000000,
  RequestLogs1763690100000,
  UsageMinute1763690200000,
  Authority1763690250000,
  IdempotentAnswers1763690260000,
  OrganizationSettings1763690270000,
  RoutingConfigs1763690300000,
  People1763690800000,
];

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
    extra: sessionLimits(PATIENCE[use]),
  });
}
