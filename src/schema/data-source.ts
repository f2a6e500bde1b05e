import { DataSource } from 'typeorm';
import { ApiKey } from '../admin/api-keys/api-key.entity.js';
import { AuditDestination } from '../admin/audit-destinations/audit-destination.entity.js';
import { AuditRecord } from '../admin/audit/audit-record.entity.js';
import { LegalHold } from '../admin/legal-holds/legal-hold.entity.js';
import { RemovedWorkspaceRetention } from '../admin/workspaces/removed-workspace-retention.entity.js';
import { LimitPolicy } from '../admin/policies/limit-policy.entity.js';
import { Config } from '../admin/configs/config.entity.js';
import { ConfigVersion } from '../admin/configs/config-version.entity.js';
import { Feedback } from '../admin/feedback/feedback.entity.js';
import { Guardrail } from '../admin/guardrails/guardrail.entity.js';
import {
  IdentityProvider,
  SingleSignOnSession,
  UserIdentity,
} from '../admin/sign-in/identity-provider.entity.js';
import { SignInTrial } from '../admin/identity-providers/sign-in-trial.entity.js';
import { IntegrationModel } from '../admin/integrations/integration-model.entity.js';
import { IntegrationWorkspace } from '../admin/integrations/integration-workspace.entity.js';
import { Integration } from '../admin/integrations/integration.entity.js';
import { ModelPrice } from '../admin/model-configs/model-price.entity.js';
import { IngestedLog } from '../admin/log-ingestion/ingested-log.entity.js';
import { InviteWorkspace } from '../admin/invites/invite-workspace.entity.js';
import { Invite } from '../admin/tenancy/invite.entity.js';
import { LogView } from '../admin/log-views/log-view.entity.js';
import { LogExport } from '../admin/log-exports/log-export.entity.js';
import { Mail } from '../admin/invites/mail.entity.js';
import { Organization } from '../admin/tenancy/organization.entity.js';
import { OrganizationJwt } from '../admin/organization-jwt/organization-jwt.entity.js';
import { Passkey, UsedPasskeyChallenge } from '../admin/passkeys/passkey.entity.js';
import { RecoveryCode } from '../admin/sign-in/recovery-code.entity.js';
import { SignInPolicy, UsedToken } from '../admin/sign-in/sign-in-policy.entity.js';
import { SignInLink } from '../admin/sign-in/sign-in-link.entity.js';
import { Session } from '../admin/sign-in/session.entity.js';
import { UserCredential } from '../admin/sign-in/user-credential.entity.js';
import { User } from '../admin/tenancy/user.entity.js';
import { VirtualKey } from '../admin/virtual-keys/virtual-key.entity.js';
import { WorkspaceMember } from '../admin/tenancy/workspace-member.entity.js';
import { WorkspaceProvider } from '../admin/integrations/workspace-provider.entity.js';
import { Workspace } from '../admin/tenancy/workspace.entity.js';
import { Foundation1763690000000 } from './migrations/1763690000000-foundation.js';
import { RequestLogs1763690100000 } from './migrations/1763690100000-request-logs.js';
import { UsageMinute1763690200000 } from './migrations/1763690200000-usage-minute.js';
import { Authority1763690250000 } from './migrations/1763690250000-authority.js';
import { IdempotentAnswers1763690260000 } from './migrations/1763690260000-idempotent-answers.js';
import { EstimatedAttempts1763811000002 } from './migrations/1763811000002-estimated-attempts.js';
import { ClientDisconnects1763811000001 } from './migrations/1763811000001-client-disconnects.js';
import { LimitAnswersPerCounter1763810000001 } from './migrations/1763810000001-limit-answers-per-counter.js';
import { Limits1763690400000 } from './migrations/1763690400000-limits.js';
import { OrganizationSettings1763690270000 } from './migrations/1763690270000-organization-settings.js';
import { RoutingConfigs1763690300000 } from './migrations/1763690300000-routing-configs.js';
import { Rollups1763690600000 } from './migrations/1763690600000-rollups.js';
import { CachedAnswers1763691100000 } from './migrations/1763691100000-cached-answers.js';
import { SemanticCache1763691110000 } from './migrations/1763691110000-semantic-cache.js';
import { Feedback1763690610000 } from './migrations/1763690610000-feedback.js';
import { PagesOfKeys1763691510000 } from './migrations/1763691510000-pages-of-keys.js';
import { BlocksOfLists1763691560000 } from './migrations/1763691560000-blocks-of-lists.js';
import { AuditDestinations1763691500000 } from './migrations/1763691500000-audit-destinations.js';
import { TenantWall1763691000000 } from './migrations/1763691000000-tenant-wall.js';
import { LimitAlerts1763691200000 } from './migrations/1763691200000-limit-alerts.js';
import { Guardrails1763690500000 } from './migrations/1763690500000-guardrails.js';
import { Integrations1763690900000 } from './migrations/1763690900000-integrations.js';
import { People1763690800000 } from './migrations/1763690800000-people.js';
import { LogExports1763691300000 } from './migrations/1763691300000-log-exports.js';
import { IngestedLogs1763691310000 } from './migrations/1763691310000-ingested-logs.js';
import { FiltersOfLogs1763691570001 } from './migrations/1763691570001-filters-of-logs.js';
import { EndUsers1763691591001 } from './migrations/1763691591001-end-users.js';
import { LogRedaction1763691590001 } from './migrations/1763691590001-log-redaction.js';
import { RollupsOfPrompts1763691570000 } from './migrations/1763691570000-rollups-of-prompts.js';
import { LogSinks1763691540000 } from './migrations/1763691540000-log-sinks.js';
import { LogRetention1763691530000 } from './migrations/1763691530000-log-retention.js';
import { AppliedPrices1763691610001 } from './migrations/1763691610001-applied-prices.js';
import { DeadLettersHaveOwners1763730000001 } from './migrations/1763730000001-dead-letters-have-owners.js';
import { MarksOfWorkspaces1763760000001 } from './migrations/1763760000001-marks-of-workspaces.js';
import { NumberedLeases1763691580001 } from './migrations/1763691580001-numbered-leases.js';
import { ListsOfWorkspaces1763700000001 } from './migrations/1763700000001-lists-of-workspaces.js';
import { PagesOfLists1763750000001 } from './migrations/1763750000001-pages-of-lists.js';
import { SumsOfTheCube1763770000001 } from './migrations/1763770000001-sums-of-the-cube.js';
import { ReplaceableMasterKey1763780000001 } from './migrations/1763780000001-replaceable-master-key.js';
import { GroupsOfPolicies1763790000001 } from './migrations/1763790000001-groups-of-policies.js';
import { RareRowsOfLists1763790000002 } from './migrations/1763790000002-rare-rows-of-lists.js';
import { CountedLists1763790010001 } from './migrations/1763790010001-counted-lists.js';
import { LateBatches1763800010001 } from './migrations/1763800010001-late-batches.js';
import { ReadySums1763800020001 } from './migrations/1763800020001-ready-sums.js';
import { SignIn1763820000001 } from './migrations/1763820000001-sign-in.js';
import { SignInLinks1763820000002 } from './migrations/1763820000002-sign-in-links.js';
import { SecondFactors1763820000003 } from './migrations/1763820000003-second-factors.js';
import { LogViews1763830000001 } from './migrations/1763830000001-log-views.js';
import { Passkeys1763820000004 } from './migrations/1763820000004-passkeys.js';
import { RevokedKeys1763835000001 } from './migrations/1763835000001-revoked-keys.js';
import { UsedRates1763837000001 } from './migrations/1763837000001-used-rates.js';
import { SingleSignOn1763833000001 } from './migrations/1763833000001-single-sign-on.js';
import { POSTGRES_TIMEOUTS } from '../common/net/store-timeouts.js';
import { postgresLimits, type PostgresUse } from '../database/sessions/postgres-connections.js';
import { SnakeCaseNaming } from './snake-case-naming.js';

const SHARED_CREDENTIALS = [
  Integration,
  IntegrationModel,
  IntegrationWorkspace,
  WorkspaceProvider,
  ModelPrice,
];

const SINGLE_SIGN_ON = [
  IdentityProvider,
  SignInPolicy,
  SignInTrial,
  SingleSignOnSession,
  UsedToken,
  UserIdentity,
];

const ENTITIES = [
  ApiKey,
  AuditDestination,
  AuditRecord,
  LegalHold,
  RemovedWorkspaceRetention,
  LimitPolicy,
  Config,
  ConfigVersion,
  Feedback,
  Guardrail,
  IngestedLog,
  Invite,
  InviteWorkspace,
  LogExport,
  LogView,
  Mail,
  Organization,
  OrganizationJwt,
  Passkey,
  RecoveryCode,
  Session,
  SignInLink,
  User,
  UsedPasskeyChallenge,
  UserCredential,
  VirtualKey,
  Workspace,
  WorkspaceMember,
  ...SHARED_CREDENTIALS,
  ...SINGLE_SIGN_ON,
];

/** In the order in which they run. */
const MIGRATIONS = [
  Foundation1763690000000,
  RequestLogs1763690100000,
  UsageMinute1763690200000,
  Authority1763690250000,
  IdempotentAnswers1763690260000,
  Limits1763690400000,
  OrganizationSettings1763690270000,
  RoutingConfigs1763690300000,
  Rollups1763690600000,
  Feedback1763690610000,
  TenantWall1763691000000,
  AuditDestinations1763691500000,
  PagesOfKeys1763691510000,
  BlocksOfLists1763691560000,
  Guardrails1763690500000,
  Integrations1763690900000,
  People1763690800000,
  LogExports1763691300000,
  IngestedLogs1763691310000,
  LimitAlerts1763691200000,
  CachedAnswers1763691100000,
  LogRetention1763691530000,
  SemanticCache1763691110000,
  RollupsOfPrompts1763691570000,
  FiltersOfLogs1763691570001,
  LogRedaction1763691590001,
  EndUsers1763691591001,
  LogSinks1763691540000,
  NumberedLeases1763691580001,
  AppliedPrices1763691610001,
  ListsOfWorkspaces1763700000001,
  DeadLettersHaveOwners1763730000001,
  PagesOfLists1763750000001,
  MarksOfWorkspaces1763760000001,
  SumsOfTheCube1763770000001,
  ReplaceableMasterKey1763780000001,
  GroupsOfPolicies1763790000001,
  RareRowsOfLists1763790000002,
  CountedLists1763790010001,
  LateBatches1763800010001,
  ReadySums1763800020001,
  LimitAnswersPerCounter1763810000001,
  ClientDisconnects1763811000001,
  EstimatedAttempts1763811000002,
  SignIn1763820000001,
  SignInLinks1763820000002,
  SecondFactors1763820000003,
  Passkeys1763820000004,
  LogViews1763830000001,
  SingleSignOn1763833000001,
  RevokedKeys1763835000001,
  UsedRates1763837000001,
];

/**
 * The relational store. Entities and migrations are listed by hand: file patterns would name other files in
 * compiled code than in tests.
 *
 * `poolSize` is the number of connections at most. `use` says how long a statement may take, so that a slow one cannot
 * hold up who waits for it.
 */
export function createDataSource(url: string, poolSize = 8, use: PostgresUse = 'requests'): DataSource {
  return new DataSource({
    type: 'postgres',
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
