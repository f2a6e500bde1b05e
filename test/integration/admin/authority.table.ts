import { CHANGES_WITHOUT_STEP_UP, type Operation } from './permissions.table.js';

/**
 * Whose authority each resource carries, and which changes need a step-up. permissions.table.ts lists the changes that do neither. Tests
 * walk through both against the running administration, and docs/permissions.md shows them. An operation that changes anything and is in
 * neither list fails those tests.
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
  'secret reference': {
    setBy: 'administrators',
    carries: 'the organization: what its credential reads, for the workspaces that it is open to',
    afterLoss: 'the reference stays with its credential; another administrator can change it',
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

  gives('POST /v1/admin/users/invites', ['invite'], 'always'),
  gives('POST /v1/admin/users/invites/{inviteId}/resend', ['invite'], 'always'),
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
  plain('PUT /v1/admin/workspaces/{workspaceId}', ['defaults', ...HIDES_TRACES]),
  gives('PUT /v1/admin/organisation', ['rights of roles'], OPENS_DATA),

  gives('POST /v1/logs/exports', ['log export'], { not: 'the file stays in the service' }),
  gives('PUT /v1/logs/exports/{id}', ['log export'], { not: 'the file stays in the service' }),
  gives('POST /v1/logs/exports/{id}/start', ['log export'], { not: 'the file stays in the service' }),
  gives('GET /v1/logs/exports/{id}/download', ['download link'], 'always'),
  plain('GET /v1/audit-logs/export', 'always'),
  plain('POST /v1/audit-logs/destinations', 'always'),
  plain('PUT /v1/audit-logs/destinations/{id}', 'always'),
  plain('DELETE /v1/audit-logs/destinations/{id}', 'always'),

  plain('PUT /v1/integrations/{slug}/workspaces', 'always'),
  gives('POST /v1/secret-references', ['secret reference'], 'always'),
  gives('PUT /v1/secret-references/{id}', ['secret reference'], 'always'),
  gives('DELETE /v1/secret-references/{id}', ['secret reference'], 'always'),
  plain('POST /v1/virtual-keys/{slug}/copy', 'always'),
  plain('POST /v1/admin/legal-holds/{id}/release', 'always'),

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

  ...Object.entries(CHANGES_WITHOUT_STEP_UP).flatMap(([not, operations]) => operations.map((each) => plain(each, { not }))),
];
