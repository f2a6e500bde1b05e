// Written by scripts/generate-schema.mjs: run "npm run generate".
import { AnalyticsJob } from '../admin/analytics/jobs/analytics-job.entity.js';
import { ApiKey } from '../admin/api-keys/api-key.entity.js';
import { AuditDestination } from '../admin/audit-destinations/audit-destination.entity.js';
import { AuditRecord } from '../admin/audit/audit-record.entity.js';
import { ConfigVersion } from '../admin/configs/config-version.entity.js';
import { Config } from '../admin/configs/config.entity.js';
import { Feedback } from '../admin/feedback/feedback.entity.js';
import { Guardrail } from '../admin/guardrails/guardrail.entity.js';
import { SignInTrial } from '../admin/identity-providers/sign-in-trial.entity.js';
import { IntegrationModel } from '../admin/integrations/integration-model.entity.js';
import { IntegrationWorkspace } from '../admin/integrations/integration-workspace.entity.js';
import { Integration } from '../admin/integrations/integration.entity.js';
import { WorkspaceProvider } from '../admin/integrations/workspace-provider.entity.js';
import { InviteWorkspace } from '../admin/invites/invite-workspace.entity.js';
import { Mail } from '../admin/invites/mail.entity.js';
import { LegalHold } from '../admin/legal-holds/legal-hold.entity.js';
import { LogExport } from '../admin/log-exports/log-export.entity.js';
import { IngestedLog } from '../admin/log-ingestion/ingested-log.entity.js';
import { LogView } from '../admin/log-views/log-view.entity.js';
import { ModelPrice } from '../admin/model-configs/model-price.entity.js';
import { UsedToken } from '../admin/openid-connect/used-token.entity.js';
import { OrganizationJwt } from '../admin/organization-jwt/organization-jwt.entity.js';
import { Passkey, UsedPasskeyChallenge } from '../admin/passkeys/passkey.entity.js';
import { SignInLink } from '../admin/passwords/sign-in-link.entity.js';
import { UserCredential } from '../admin/passwords/user-credential.entity.js';
import { LimitPolicy } from '../admin/policies/limit-policy.entity.js';
import { RefusedCredential } from '../admin/refused-credentials/refused-credential.entity.js';
import { RecoveryCode } from '../admin/second-factors/recovery-code.entity.js';
import { SecretReference } from '../admin/secret-references/secret-reference.entity.js';
import { Session } from '../admin/sessions/session.entity.js';
import { SingleSignOnSession } from '../admin/sessions/single-sign-on-session.entity.js';
import { IdentityProvider, UserIdentity } from '../admin/sign-in-policy/identity-provider.entity.js';
import { SignInPolicy } from '../admin/sign-in-policy/sign-in-policy.entity.js';
import { Invite } from '../admin/tenancy/invite.entity.js';
import { Organization } from '../admin/tenancy/organization.entity.js';
import { User } from '../admin/tenancy/user.entity.js';
import { WorkspaceMember } from '../admin/tenancy/workspace-member.entity.js';
import { Workspace } from '../admin/tenancy/workspace.entity.js';
import { VirtualKey } from '../admin/virtual-keys/virtual-key.entity.js';
import { RemovedWorkspaceRetention } from '../admin/workspaces/removed-workspace-retention.entity.js';
import { RowLevelSecurity1763800000001 } from './migrations/1763800000001-row-level-security.js';
import { TenantsAndPeople1763800000002 } from './migrations/1763800000002-tenants-and-people.js';
import { SignIn1763800000003 } from './migrations/1763800000003-sign-in.js';
import { SingleSignOn1763800000004 } from './migrations/1763800000004-single-sign-on.js';
import { ConfigsAndGuardrails1763800000005 } from './migrations/1763800000005-configs-and-guardrails.js';
import { ApiKeys1763800000006 } from './migrations/1763800000006-api-keys.js';
import { IntegrationsAndVirtualKeys1763800000007 } from './migrations/1763800000007-integrations-and-virtual-keys.js';
import { Limits1763800000008 } from './migrations/1763800000008-limits.js';
import { LimitFunctions1763800000009 } from './migrations/1763800000009-limit-functions.js';
import { RequestLog1763800000010 } from './migrations/1763800000010-request-log.js';
import { UseOfLogs1763800000011 } from './migrations/1763800000011-use-of-logs.js';
import { Rollups1763800000012 } from './migrations/1763800000012-rollups.js';
import { Audit1763800000013 } from './migrations/1763800000013-audit.js';
import { ResponseCache1763800000014 } from './migrations/1763800000014-response-cache.js';
import { AuditPages1763800000015 } from './migrations/1763800000015-audit-pages.js';
import { AuditHeads1763800000036 } from './migrations/1763800000036-audit-heads.js';
import { AuthorOfTokenRules1763800020030 } from './migrations/1763800020030-author-of-token-rules.js';
import { AuditedRequests1763800020040 } from './migrations/1763800020040-audited-requests.js';
import { PackedDurationsOfSlices1763800020050 } from './migrations/1763800020050-packed-durations-of-slices.js';
import { RefusalsInRollups1763800020060 } from './migrations/1763800020060-refusals-in-rollups.js';
import { SumsOfRefusals1763800020061 } from './migrations/1763800020061-sums-of-refusals.js';
import { RefusedCredentials1763800020062 } from './migrations/1763800020062-refused-credentials.js';
import { AnalyticsJobs1763800020070 } from './migrations/1763800020070-analytics-jobs.js';
import { SecretReferences1763800020071 } from './migrations/1763800020071-secret-references.js';
import { SchemaCompatibility1763800020080 } from './migrations/1763800020080-schema-compatibility.js';

/** Every class with `@Entity` in the `*.entity.ts` files of src/admin. */
export const ENTITIES = [
  AnalyticsJob,
  ApiKey,
  AuditDestination,
  AuditRecord,
  ConfigVersion,
  Config,
  Feedback,
  Guardrail,
  SignInTrial,
  IntegrationModel,
  IntegrationWorkspace,
  Integration,
  WorkspaceProvider,
  InviteWorkspace,
  Mail,
  LegalHold,
  LogExport,
  IngestedLog,
  LogView,
  ModelPrice,
  UsedToken,
  OrganizationJwt,
  Passkey,
  UsedPasskeyChallenge,
  SignInLink,
  UserCredential,
  LimitPolicy,
  RefusedCredential,
  RecoveryCode,
  SecretReference,
  Session,
  SingleSignOnSession,
  IdentityProvider,
  UserIdentity,
  SignInPolicy,
  Invite,
  Organization,
  User,
  WorkspaceMember,
  Workspace,
  VirtualKey,
  RemovedWorkspaceRetention,
];

/** Every file of src/schema/migrations. They run in the order of the times in their names. */
export const MIGRATIONS = [
  RowLevelSecurity1763800000001,
  TenantsAndPeople1763800000002,
  SignIn1763800000003,
  SingleSignOn1763800000004,
  ConfigsAndGuardrails1763800000005,
  ApiKeys1763800000006,
  IntegrationsAndVirtualKeys1763800000007,
  Limits1763800000008,
  LimitFunctions1763800000009,
  RequestLog1763800000010,
  UseOfLogs1763800000011,
  Rollups1763800000012,
  Audit1763800000013,
  ResponseCache1763800000014,
  AuditPages1763800000015,
  AuditHeads1763800000036,
  AuthorOfTokenRules1763800020030,
  AuditedRequests1763800020040,
  PackedDurationsOfSlices1763800020050,
  RefusalsInRollups1763800020060,
  SumsOfRefusals1763800020061,
  RefusedCredentials1763800020062,
  AnalyticsJobs1763800020070,
  SecretReferences1763800020071,
  SchemaCompatibility1763800020080,
];
