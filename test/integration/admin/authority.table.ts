import type { Operation } from './permissions.table.js';

/**
 * Whose authority each resource carries, and which changes need a step-up: a line for each operation that changes anything. Tests walk
 * through both against the running administration, and docs/permissions.md shows them. An operation without a line fails those tests.
 */

/** What acts, or lets others act, on the authority of a user. */
export interface Authority {
  /** Who can set it up and change it. */
  readonly setBy: string;
  /** The most that it gives, and by whose roles. */
  readonly carries: string;
  /** What happens when that user loses their role, is deactivated or is removed. */
  readonly afterLoss: string;
}

/* prettier-ignore */
export const AUTHORITIES = {
  'signed tokens': {
    setBy: 'owners, and their admin keys with all admin scopes',
    carries: 'the owner who last set them; users up to that rank, owners only with `allow_owners`',
    afterLoss: 'as an admin: tokens stand for admins at most; otherwise no token is accepted until an owner sets them again',
  },
  'sign-in rules': {
    setBy: 'owners, and their admin keys with all admin scopes',
    carries: 'the organization; role mappings give at most the role admin',
    afterLoss: 'the rules stay; another owner can change them',
  },
  'admin key': {
    setBy: 'administrators; changed and rotated only from the rank of its creator up',
    carries: 'its creator: its scopes, as far as the creator has them now',
    afterLoss: 'its scopes shrink at once; of a removed user it passes on only to an heir of no higher rank, otherwise it is revoked',
  },
  'service key': {
    setBy: 'managers; changed and rotated only from the rank of its creator up',
    carries: 'its creator: its scopes, as far as the creator has them in the workspace now',
    afterLoss: 'its scopes shrink at once; of a removed user it passes to the deleting user with the scopes that it had',
  },
  'user key': {
    setBy: 'managers for users of no higher rank; changed and rotated only from the rank of its user up',
    carries: 'its user: its scopes, as far as the user has them in the workspace now',
    afterLoss: 'its scopes shrink at once; it is revoked with the membership or the user',
  },
  invite: {
    setBy: 'administrators, up to their own role and with the scopes that they have',
    carries: 'the user who sent it last',
    afterLoss: 'it is cancelled',
  },
  'role in the organization': {
    setBy: 'users of a higher rank, up to their own role; ownership by owners',
    carries: 'the user who has it',
    afterLoss: 'given roles stay',
  },
  'role in a workspace': {
    setBy: 'managers of the workspace; with a key or token, all scopes of the role',
    carries: 'the user who has it',
    afterLoss: 'given roles stay',
  },
  'rights of roles': {
    setBy: 'administrators; those of admins by owners',
    carries: 'the organization',
    afterLoss: 'the rights stay; another administrator can change them',
  },
  'sign-in of others': {
    setBy: 'users of a higher rank; second factors by owners',
    carries: 'the user who signs in',
    afterLoss: 'sessions end with a changed role or status',
  },
  'log export': {
    setBy: 'users of the workspace with the scope `logs.export`',
    carries: 'whoever changed or started it last',
    afterLoss: 'it stops before its next part',
  },
  'download link': {
    setBy: 'users of the workspace with the scope `logs.export`',
    carries: 'whoever asked for it',
    afterLoss: 'it is refused',
  },
} as const satisfies Record<string, Authority>;

export type AuthorityName = keyof typeof AUTHORITIES;

/** Whether a dashboard session needs a step-up: always, for these fields of the body, or not, with the reason. */
type StepUp = 'always' | readonly string[] | { readonly not: string };

export interface Change {
  readonly operation: Operation;
  /** The authorities that it sets up, changes or hands out; none for an operation that carries no authority. */
  readonly authorities: readonly AuthorityName[];
  readonly stepUp: StepUp;
}

const TAKES_AWAY = { not: 'only takes access away' };
const NO_ACCESS = { not: 'gives no access' };
const SAME_USERS = { not: 'usable only by users of the same workspace' };
const AUTHENTICATES = { not: 'authenticates the user itself' };
const KEYS = ['admin key', 'service key', 'user key'] as const;
const WIDENS_KEY = [
  ...['scopes', 'expires_at', 'rate_limits', 'usage_limits', 'reset_usage', 'defaults'],
  'alert_emails',
];
/** What the log keeps, and for how long. */
const HIDES_TRACES = ['log_redaction', 'log_retention_days', 'body_retention_days'];
const OPENS_DATA = [
  ...HIDES_TRACES,
  ...['security_settings', 'input_guardrails', 'output_guardrails', 'log_bodies', 'strict_logging'],
  'export_settings',
  'alert_webhook_url',
  'alert_webhook_secret',
];

const gives = (operation: Operation, authorities: readonly AuthorityName[], stepUp: StepUp): Change => ({
  operation,
  authorities,
  stepUp,
});
const plain = (operation: Operation, stepUp: StepUp): Change => gives(operation, [], stepUp);

/* prettier-ignore */
export const CHANGES: readonly Change[] = [
  gives('PUT /v1/admin/organisation/jwt', ['signed tokens'], 'always'),
  gives('DELETE /v1/admin/organisation/jwt', ['signed tokens'], 'always'),
  gives('POST /v1/admin/organisation/identity-providers', ['sign-in rules'], 'always'),
  gives('PUT /v1/admin/organisation/identity-providers/{id}', ['sign-in rules'], 'always'),
  gives('DELETE /v1/admin/organisation/identity-providers/{id}', ['sign-in rules'], 'always'),
  gives('DELETE /v1/admin/organisation/identity-providers/{id}/accounts/{userId}', ['sign-in rules'], 'always'),
  gives('POST /v1/admin/organisation/sign-in-trials', ['sign-in rules'], 'always'),
  gives('PUT /v1/admin/organisation/sign-in', ['sign-in rules'], 'always'),

  gives('POST /v1/api-keys/organisation/service', ['admin key'], 'always'),
  gives('POST /v1/api-keys/workspace/service', ['service key'], 'always'),
  gives('POST /v1/api-keys/workspace/user', ['user key'], 'always'),
  gives('PUT /v1/api-keys/{id}', KEYS, WIDENS_KEY),
  gives('POST /v1/api-keys/{id}/rotate', KEYS, 'always'),
  gives('POST /v2/api-keys/{id}/rotate', KEYS, 'always'),
  plain('POST /v1/api-keys/revoke', TAKES_AWAY),
  plain('DELETE /v1/api-keys/{id}', TAKES_AWAY),

  gives('POST /v1/admin/users/invites', ['invite'], 'always'),
  gives('POST /v1/admin/users/invites/{inviteId}/resend', ['invite'], 'always'),
  plain('DELETE /v1/admin/users/invites/{inviteId}', TAKES_AWAY),
  plain('POST /v1/admin/invites/accept', { not: 'needs the token of an invite, and no session' }),

  gives('PUT /v1/admin/users/{userId}', ['role in the organization'], ['role', 'status']),
  gives('DELETE /v1/admin/users/{userId}', ['role in the organization'], 'always'),
  gives('POST /v1/admin/users/{userId}/transfer-ownership', ['role in the organization'], 'always'),
  gives('DELETE /v1/admin/users/{userId}/sessions', ['sign-in of others'], TAKES_AWAY),
  gives('DELETE /v1/admin/users/{userId}/sessions/{sessionId}', ['sign-in of others'], TAKES_AWAY),
  gives('DELETE /v1/admin/users/{userId}/second-factors', ['sign-in of others'], 'always'),

  gives('POST /v1/admin/workspaces', ['role in a workspace'], ['users']),
  gives('POST /v1/admin/workspaces/{workspaceId}/users', ['role in a workspace'], 'always'),
  gives('PUT /v1/admin/workspaces/{workspaceId}/users/{userId}', ['role in a workspace'], 'always'),
  plain('DELETE /v1/admin/workspaces/{workspaceId}/users/{userId}', TAKES_AWAY),
  plain('PUT /v1/admin/workspaces/{workspaceId}', ['defaults', ...HIDES_TRACES]),
  plain('DELETE /v1/admin/workspaces/{workspaceId}', TAKES_AWAY),
  gives('PUT /v1/admin/organisation', ['rights of roles'], OPENS_DATA),

  gives('POST /v1/logs/exports', ['log export'], { not: 'the file stays in the service' }),
  gives('PUT /v1/logs/exports/{id}', ['log export'], { not: 'the file stays in the service' }),
  gives('POST /v1/logs/exports/{id}/start', ['log export'], { not: 'the file stays in the service' }),
  plain('POST /v1/logs/exports/{id}/cancel', NO_ACCESS),
  gives('GET /v1/logs/exports/{id}/download', ['download link'], 'always'),
  plain('GET /v1/audit-logs/export', 'always'),
  plain('POST /v1/audit-logs/destinations', 'always'),
  plain('PUT /v1/audit-logs/destinations/{id}', 'always'),
  plain('DELETE /v1/audit-logs/destinations/{id}', 'always'),

  plain('PUT /v1/integrations/{slug}/workspaces', 'always'),
  plain('POST /v1/secret-references', 'always'),
  plain('PUT /v1/secret-references/{id}', 'always'),
  plain('DELETE /v1/secret-references/{id}', 'always'),
  plain('POST /v1/virtual-keys/{slug}/copy', 'always'),
  plain('POST /v1/virtual-keys', SAME_USERS),
  plain('PUT /v1/virtual-keys/{slug}', SAME_USERS),
  plain('DELETE /v1/virtual-keys/{slug}', TAKES_AWAY),
  plain('POST /v1/virtual-keys/{slug}/duplicate', SAME_USERS),
  plain('POST /v1/virtual-keys/{slug}/test', NO_ACCESS),
  plain('POST /v1/virtual-keys/test', NO_ACCESS),
  plain('POST /v1/integrations', SAME_USERS),
  plain('PUT /v1/integrations/{slug}', SAME_USERS),
  plain('DELETE /v1/integrations/{slug}', TAKES_AWAY),
  plain('PUT /v1/integrations/{slug}/models', SAME_USERS),
  plain('DELETE /v1/integrations/{slug}/models', SAME_USERS),
  plain('POST /v1/providers', SAME_USERS),
  plain('PUT /v1/providers/{slug}', SAME_USERS),
  plain('DELETE /v1/providers/{slug}', TAKES_AWAY),
  plain('POST /v1/configs', SAME_USERS),
  plain('PUT /v1/configs/{slug}', SAME_USERS),
  plain('DELETE /v1/configs/{slug}', TAKES_AWAY),
  plain('POST /v1/configs/{slug}/rollback', SAME_USERS),
  plain('POST /v1/configs/simulate', NO_ACCESS),
  plain('POST /v1/guardrails', NO_ACCESS),
  plain('PUT /v1/guardrails/{guardrail}', NO_ACCESS),
  plain('DELETE /v1/guardrails/{guardrail}', NO_ACCESS),
  plain('POST /v1/policies/usage-limits', NO_ACCESS),
  plain('PUT /v1/policies/usage-limits/{id}', NO_ACCESS),
  plain('DELETE /v1/policies/usage-limits/{id}', NO_ACCESS),
  plain('PUT /v1/policies/usage-limits/{id}/entities/{entity}/reset', NO_ACCESS),
  plain('POST /v1/policies/rate-limits', NO_ACCESS),
  plain('PUT /v1/policies/rate-limits/{id}', NO_ACCESS),
  plain('DELETE /v1/policies/rate-limits/{id}', NO_ACCESS),
  plain('POST /v1/limits/{id}/raise', NO_ACCESS),
  plain('PUT /v1/model-configs/pricing/{provider}/{model}', NO_ACCESS),
  plain('DELETE /v1/model-configs/pricing/{provider}/{model}', NO_ACCESS),
  plain('POST /v1/admin/legal-holds', NO_ACCESS),
  plain('POST /v1/admin/legal-holds/{id}/release', 'always'),
  plain('POST /v1/logs', NO_ACCESS),
  plain('POST /v1/otel/v1/traces', NO_ACCESS),
  plain('POST /v1/logs/views', NO_ACCESS),
  plain('PUT /v1/logs/views/{id}', NO_ACCESS),
  plain('DELETE /v1/logs/views/{id}', NO_ACCESS),
  plain('POST /v1/feedback', NO_ACCESS),
  plain('PUT /v1/feedback/{id}', NO_ACCESS),

  plain('POST /v1/auth/totp', 'always'),
  plain('POST /v1/auth/totp/confirm', 'always'),
  plain('DELETE /v1/auth/totp', 'always'),
  plain('POST /v1/auth/recovery-codes', 'always'),
  plain('POST /v1/auth/passkeys', 'always'),
  plain('POST /v1/auth/passkeys/creation-options', 'always'),
  plain('DELETE /v1/auth/passkeys/{id}', 'always'),
  plain('POST /v1/auth/sign-in', AUTHENTICATES),
  plain('POST /v1/auth/set-up', AUTHENTICATES),
  plain('POST /v1/auth/step-up', AUTHENTICATES),
  plain('POST /v1/auth/password', AUTHENTICATES),
  plain('POST /v1/auth/passkeys/request-options', AUTHENTICATES),
  plain('POST /v1/auth/passkeys/sign-in', AUTHENTICATES),
  plain('POST /v1/auth/passkeys/step-up', AUTHENTICATES),
  plain('POST /v1/auth/single-sign-on', AUTHENTICATES),
  plain('POST /v1/auth/single-sign-on/back-channel-logout', TAKES_AWAY),
  plain('POST /v1/auth/single-sign-on/sign-out', TAKES_AWAY),
  plain('POST /v1/auth/sign-out', TAKES_AWAY),
  plain('DELETE /v1/auth/sessions', TAKES_AWAY),
  plain('DELETE /v1/auth/sessions/{id}', TAKES_AWAY),
];
