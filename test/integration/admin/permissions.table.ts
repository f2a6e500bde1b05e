/**
 * Who may do what: one line for each operation of the administration, which a test walks through against the running
 * service, and docs/permissions.md shows. An operation without a line fails that test.
 *
 * What is asked for (`on`) lies in "this workspace" or belongs to its organization.
 */
export const CALLERS = [
  ['owner', 'organization owner'],
  ['admin', 'organization admin'],
  ['manager', 'manager of this workspace'],
  ['managerElsewhere', 'manager of another workspace'],
  ['member', 'member of this workspace'],
  ['adminKey', 'admin key'],
  ['workspaceKey', 'key of this workspace'],
  ['keyElsewhere', 'key of another workspace'],
  ['keyWithout', 'key without the scope'],
  ['expired', 'expired key'],
  ['stranger', "another organization's owner"],
  ['nobody', 'no credential'],
] as const;

export type CallerName = (typeof CALLERS)[number][0];

export type Operation = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}` | `POST /v2/${string}`;

const HERE = { workspace_id: 'ws-default' };
const KEY = { name: 'A key', scopes: ['logs.view'] };
const RENAMED = { name: 'Another' };
const GROUPED = {
  conditions: [{ key: 'metadata.team', value: '*' }],
  group_by: [{ key: 'api_key' }],
  ...HERE,
};
const CONTAINS = { id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } };

/** What a POST creates: its path and body. The path of an operation then has the property `by` of the response. */
export interface CreatedThing {
  readonly path: string;
  readonly body: object;
  readonly by: 'id' | 'slug';
}

/* prettier-ignore */
export const CREATED = {
  'admin key': { path: 'api-keys/organisation/service', body: KEY, by: 'id' },
  'guardrail': { path: 'guardrails', body: { name: 'A guardrail', checks: [CONTAINS], ...HERE }, by: 'slug' },
  'legal hold': { path: 'admin/legal-holds', body: { reason: 'Case 1', ...HERE }, by: 'id' },
  'rate policy': { path: 'policies/rate-limits', body: { ...GROUPED, type: 'requests', unit: 'rpm', value: 1 }, by: 'id' },
  'secret reference': { path: 'secret-references', body: { name: 'A reference', manager_type: 'file', auth_config: {}, secret_path: 'openai' }, by: 'id' },
  'shared view': { path: 'logs/views', body: { name: 'A view', is_shared: true, ...HERE }, by: 'id' },
  'usage policy': { path: 'policies/usage-limits', body: { ...GROUPED, credit_limit: 1 }, by: 'id' },
} as const satisfies Readonly<Record<string, CreatedThing>>;

/** What takes more than a POST: permissions.things.ts makes it. */
export type SpecialThingName =
  | 'analytics job'
  | 'API key'
  | 'API key in the body'
  | 'API key of a manager'
  | 'API key of somebody else'
  | 'audit destination'
  | 'budget of a virtual key'
  | 'config'
  | 'config version'
  | 'config version in the body'
  | 'feedback'
  | 'finished log export'
  | 'guardrail of the organization'
  | 'identity provider'
  | 'integration'
  | 'integration of the organization'
  | 'invite'
  | 'linked account'
  | 'log'
  | 'log export'
  | 'member'
  | 'model of the integration'
  | 'new audit destination'
  | 'new identity provider'
  | 'new guardrail of the organization'
  | 'new invite'
  | 'new member'
  | 'new provider'
  | 'new signed tokens'
  | 'owner'
  | 'owner with sessions'
  | 'person'
  | 'person with a second factor'
  | 'person with sessions'
  | 'price'
  | 'provider'
  | 'session of a person'
  | 'sign-in trial'
  | 'signed tokens'
  | 'this workspace'
  | 'trace'
  | 'use of a policy'
  | 'virtual key'
  | 'virtual key for another workspace'
  | 'virtual key of the sandbox'
  | 'workspace';

/** What a path or a body names. The test makes each, and makes another when a call has changed it. */
export type ThingName = keyof typeof CREATED | SpecialThingName;

export interface Permission {
  readonly operation: Operation;
  /** In the order of CALLERS, in groups: people, keys, others. */
  readonly statuses: string;
  readonly on?: ThingName;
  readonly body?: object;
}

/* prettier-ignore */
const
  //              owner admin manager elsewhere member | admin key, this, elsewhere, without, expired | stranger, nobody
  EVERYBODY     = '200 200 200 200 200 | 200 200 200 200 401 | 200 401', // asks about itself
  LIST          = '200 200 200 200 200 | 200 200 200 403 401 | 200 401', // hears of what is within reach
  READ          = '200 200 200 404 200 | 200 200 404 403 401 | 404 401', // a thing of the workspace, by who uses it
  MANAGE        = '200 200 200 404 403 | 200 200 404 403 401 | 404 401', // a thing of the workspace, by who manages it
  PEOPLE_MANAGE = '200 200 200 404 403 | 200 403 403 403 401 | 404 401', // the workspace itself and its members: no workspace key
  ADMINISTER    = '200 200 403 403 403 | 200 403 403 403 401 | 404 401', // a thing of the organization
  OWN_SETTINGS  = '200 200 403 403 403 | 200 403 403 403 401 | 200 401', // of one's organization, whichever it is
  OWNERS_ONLY   = '200 403 403 403 403 | 200 403 403 403 401 | 404 401', // an owner, or a key that acts for one
  OWNERS_OWN    = '200 403 403 403 403 | 200 403 403 403 401 | 200 401', // of one's organization, by its owners
  ABOVE_READ    = '200 200 404 404 404 | 200 404 404 403 401 | 404 401', // what no workspace reaches
  ABOVE_MANAGE  = '200 200 404 404 403 | 200 404 404 403 401 | 404 401',
  LENT          = '200 200 403 404 403 | 200 403 404 403 401 | 404 401', // of the organization, lent to this workspace
  OWNERS_KEY    = '200 403 403 404 403 | 200 200 404 403 401 | 404 401', // on the authority of an owner, like the two keys that may
  OWNERS_ADMIN  = '200 403 404 404 403 | 200 404 404 403 401 | 404 401', // the same, above every workspace
  OTHERS_KEY    = '200 200 200 404 404 | 200 200 404 403 401 | 404 401',
  GIVE_FEEDBACK = '403 403 200 200 200 | 403 200 200 403 401 | 403 401', // who uses a workspace
  LOG_CALLS     = '200 200 200 200 200 | 403 200 200 403 401 | 200 401', // for the workspace that the credential names
  OF_FEEDBACK   = '403 403 200 404 200 | 403 200 404 403 401 | 403 401';

const row = (operation: Operation, statuses: string, on?: ThingName, body?: object): Permission => ({
  operation,
  statuses,
  ...(on === undefined ? {} : { on }),
  ...(body === undefined ? {} : { body }),
});

/* prettier-ignore */
export const PERMISSIONS: readonly Permission[] = [
  row('GET /v1/admin/me', EVERYBODY),
  row('GET /v1/provider-catalog', EVERYBODY),

  row('POST /v1/api-keys/organisation/service', OWN_SETTINGS, undefined, KEY),
  row('POST /v1/api-keys/workspace/service', MANAGE, undefined, { ...KEY, ...HERE }),
  row('POST /v1/api-keys/workspace/user', MANAGE, undefined, { ...KEY, ...HERE }),
  row('GET /v1/api-keys', LIST),
  row('GET /v1/api-keys/{id}', OTHERS_KEY, 'API key'),
  row('PUT /v1/api-keys/{id}', OWNERS_KEY, 'API key', RENAMED),
  row('DELETE /v1/api-keys/{id}', MANAGE, 'API key'),
  row('POST /v1/api-keys/{id}/rotate', OWNERS_KEY, 'API key', {}),
  row('POST /v2/api-keys/{id}/rotate', OWNERS_KEY, 'API key', {}),
  row('PUT /v1/api-keys/{id}', MANAGE, 'API key of a manager', RENAMED),
  row('POST /v1/api-keys/{id}/rotate', MANAGE, 'API key of a manager', {}),
  row('POST /v1/api-keys/revoke', MANAGE, 'API key in the body'),
  row('GET /v1/api-keys/{id}', OTHERS_KEY, 'API key of somebody else'),
  row('PUT /v1/api-keys/{id}', MANAGE, 'API key of somebody else', RENAMED),
  row('GET /v1/api-keys/{id}', ABOVE_READ, 'admin key'),
  row('PUT /v1/api-keys/{id}', OWNERS_ADMIN, 'admin key', RENAMED),
  row('DELETE /v1/api-keys/{id}', ABOVE_MANAGE, 'admin key'),
  row('POST /v1/api-keys/{id}/rotate', OWNERS_ADMIN, 'admin key', {}),
  row('POST /v2/api-keys/{id}/rotate', OWNERS_ADMIN, 'admin key', {}),

  row('POST /v1/virtual-keys', MANAGE, undefined, { name: 'A key', provider: 'openai', key: 'sk-canary', ...HERE }),
  row('GET /v1/virtual-keys', LIST),
  row('GET /v1/virtual-keys/{slug}', READ, 'virtual key'),
  row('PUT /v1/virtual-keys/{slug}', MANAGE, 'virtual key', RENAMED),
  row('DELETE /v1/virtual-keys/{slug}', MANAGE, 'virtual key'),
  row('GET /v1/limits', LIST),
  row('POST /v1/limits/{id}/raise', MANAGE, 'budget of a virtual key', { by: 5 }),
  row('POST /v1/virtual-keys/{slug}/test', MANAGE, 'virtual key of the sandbox'),
  row('POST /v1/virtual-keys/test', MANAGE, undefined, { provider: 'sandbox', ...HERE }),
  row('POST /v1/virtual-keys/{slug}/duplicate', MANAGE, 'virtual key', {}),
  row('POST /v1/virtual-keys/{slug}/copy', MANAGE, 'virtual key', HERE),
  row('POST /v1/virtual-keys/{slug}/copy', ABOVE_MANAGE, 'virtual key for another workspace'),

  row('POST /v1/secret-references', OWN_SETTINGS, undefined, CREATED['secret reference'].body),
  row('GET /v1/secret-references', OWN_SETTINGS),
  row('GET /v1/secret-references/{id}', ADMINISTER, 'secret reference'),
  row('PUT /v1/secret-references/{id}', ADMINISTER, 'secret reference', RENAMED),
  row('DELETE /v1/secret-references/{id}', ADMINISTER, 'secret reference'),

  row('POST /v1/configs', MANAGE, undefined, { name: 'A config', config: { retry: { attempts: 1 } }, ...HERE }),
  row('POST /v1/configs/simulate', READ, undefined, { config: { provider: 'sandbox' }, ...HERE }),
  row('GET /v1/configs', LIST),
  row('GET /v1/configs/{slug}', READ, 'config'),
  row('GET /v1/configs/{slug}/usage', READ, 'config'),
  row('PUT /v1/configs/{slug}', MANAGE, 'config', RENAMED),
  row('DELETE /v1/configs/{slug}', MANAGE, 'config'),
  row('GET /v1/configs/{slug}/versions', READ, 'config'),
  row('GET /v1/configs/{slug}/versions/{version_id}', READ, 'config version'),
  row('GET /v1/configs/{slug}/diff', READ, 'config'),
  row('POST /v1/configs/{slug}/rollback', MANAGE, 'config version in the body'),

  row('POST /v1/integrations', MANAGE, undefined, { name: 'Ours', ai_provider_id: 'openai', key: 'sk-canary', ...HERE }),
  row('GET /v1/integrations', LIST),
  row('GET /v1/integrations/{slug}', READ, 'integration'),
  row('PUT /v1/integrations/{slug}', MANAGE, 'integration', RENAMED),
  row('DELETE /v1/integrations/{slug}', MANAGE, 'integration'),
  row('GET /v1/integrations/{slug}/models', READ, 'integration'),
  row('PUT /v1/integrations/{slug}/models', MANAGE, 'integration', { allow_all_models: true }),
  row('DELETE /v1/integrations/{slug}/models', MANAGE, 'model of the integration'),
  row('GET /v1/integrations/{slug}/workspaces', READ, 'integration'),
  row('GET /v1/integrations/{slug}', LENT, 'integration of the organization'),
  row('PUT /v1/integrations/{slug}', LENT, 'integration of the organization', RENAMED),
  row('DELETE /v1/integrations/{slug}', LENT, 'integration of the organization'),
  row('PUT /v1/integrations/{slug}/workspaces', LENT, 'integration of the organization', {}),

  row('POST /v1/providers', MANAGE, 'new provider'),
  row('GET /v1/providers', LIST),
  row('GET /v1/providers/{slug}', READ, 'provider'),
  row('PUT /v1/providers/{slug}', MANAGE, 'provider', RENAMED),
  row('DELETE /v1/providers/{slug}', MANAGE, 'provider'),

  row('POST /v1/guardrails', MANAGE, undefined, CREATED.guardrail.body),
  row('POST /v1/guardrails', ADMINISTER, 'new guardrail of the organization'),
  row('GET /v1/guardrails', LIST),
  row('GET /v1/guardrails/{guardrail}', READ, 'guardrail'),
  row('PUT /v1/guardrails/{guardrail}', MANAGE, 'guardrail', RENAMED),
  row('DELETE /v1/guardrails/{guardrail}', MANAGE, 'guardrail'),
  row('GET /v1/guardrails/{guardrail}', ABOVE_READ, 'guardrail of the organization'),
  row('PUT /v1/guardrails/{guardrail}', ABOVE_MANAGE, 'guardrail of the organization', RENAMED),
  row('DELETE /v1/guardrails/{guardrail}', ABOVE_MANAGE, 'guardrail of the organization'),

  row('POST /v1/policies/usage-limits', MANAGE, undefined, CREATED['usage policy'].body),
  row('GET /v1/policies/usage-limits', LIST),
  row('GET /v1/policies/usage-limits/{id}', READ, 'usage policy'),
  row('PUT /v1/policies/usage-limits/{id}', MANAGE, 'usage policy', RENAMED),
  row('DELETE /v1/policies/usage-limits/{id}', MANAGE, 'usage policy'),
  row('GET /v1/policies/usage-limits/{id}/entities', READ, 'usage policy'),
  row('PUT /v1/policies/usage-limits/{id}/entities/{entity}/reset', MANAGE, 'use of a policy'),
  row('POST /v1/policies/rate-limits', MANAGE, undefined, CREATED['rate policy'].body),
  row('GET /v1/policies/rate-limits', LIST),
  row('GET /v1/policies/rate-limits/{id}', READ, 'rate policy'),
  row('PUT /v1/policies/rate-limits/{id}', MANAGE, 'rate policy', RENAMED),
  row('DELETE /v1/policies/rate-limits/{id}', MANAGE, 'rate policy'),

  row('GET /v1/admin/workspaces', LIST),
  row('POST /v1/admin/workspaces', OWN_SETTINGS, undefined, { name: 'A workspace' }),
  row('GET /v1/admin/workspaces/{workspaceId}', READ, 'this workspace'),
  row('PUT /v1/admin/workspaces/{workspaceId}', PEOPLE_MANAGE, 'this workspace', { description: 'Ours' }),
  row('DELETE /v1/admin/workspaces/{workspaceId}', ADMINISTER, 'workspace'),
  row('GET /v1/admin/workspaces/{workspaceId}/users', READ, 'this workspace'),
  row('POST /v1/admin/workspaces/{workspaceId}/users', PEOPLE_MANAGE, 'new member'),
  row('GET /v1/admin/workspaces/{workspaceId}/users/{userId}', READ, 'member'),
  row('PUT /v1/admin/workspaces/{workspaceId}/users/{userId}', PEOPLE_MANAGE, 'member', { role: 'manager' }),
  row('DELETE /v1/admin/workspaces/{workspaceId}/users/{userId}', PEOPLE_MANAGE, 'member'),

  row('GET /v1/admin/users', OWN_SETTINGS),
  row('GET /v1/admin/users/{userId}', ADMINISTER, 'person'),
  row('PUT /v1/admin/users/{userId}', ADMINISTER, 'person', { first_name: 'Ada' }),
  row('DELETE /v1/admin/users/{userId}', ADMINISTER, 'person'),
  row('PUT /v1/admin/users/{userId}', OWNERS_ONLY, 'owner', { role: 'member' }),
  row('DELETE /v1/admin/users/{userId}', OWNERS_ONLY, 'owner'),
  row('POST /v1/admin/users/{userId}/transfer-ownership', OWNERS_ONLY, 'person', { step_down: false }),
  row('GET /v1/admin/users/{userId}/sessions', ADMINISTER, 'person'),
  row('DELETE /v1/admin/users/{userId}/sessions', ADMINISTER, 'person with sessions'),
  row('DELETE /v1/admin/users/{userId}/sessions', OWNERS_ONLY, 'owner with sessions'),
  row('DELETE /v1/admin/users/{userId}/sessions/{sessionId}', ADMINISTER, 'session of a person'),
  row('GET /v1/admin/users/{userId}/sign-in-methods', ADMINISTER, 'person'),
  row('DELETE /v1/admin/users/{userId}/second-factors', OWNERS_ONLY, 'person with a second factor'),
  row('GET /v1/admin/users/invites', OWN_SETTINGS),
  row('POST /v1/admin/users/invites', OWN_SETTINGS, 'new invite'),
  row('GET /v1/admin/users/invites/{inviteId}', ADMINISTER, 'invite'),
  row('DELETE /v1/admin/users/invites/{inviteId}', ADMINISTER, 'invite'),
  row('POST /v1/admin/users/invites/{inviteId}/resend', ADMINISTER, 'invite'),

  row('GET /v1/admin/organisation', OWN_SETTINGS),
  row('PUT /v1/admin/organisation', OWN_SETTINGS, undefined, { log_bodies: true }),
  row('GET /v1/admin/organisation/jwt', OWN_SETTINGS, 'signed tokens'),
  row('PUT /v1/admin/organisation/jwt', OWNERS_OWN, 'new signed tokens'),
  row('DELETE /v1/admin/organisation/jwt', OWNERS_OWN, 'signed tokens'),
  row('GET /v1/admin/organisation/identity-providers', OWN_SETTINGS),
  row('POST /v1/admin/organisation/identity-providers', OWNERS_OWN, 'new identity provider'),
  row('GET /v1/admin/organisation/identity-providers/{id}', ADMINISTER, 'identity provider'),
  row('PUT /v1/admin/organisation/identity-providers/{id}', OWNERS_ONLY, 'identity provider', RENAMED),
  row('DELETE /v1/admin/organisation/identity-providers/{id}', OWNERS_ONLY, 'identity provider'),
  row('DELETE /v1/admin/organisation/identity-providers/{id}/accounts/{userId}', OWNERS_ONLY, 'linked account'),
  row('POST /v1/admin/organisation/sign-in-trials', OWNERS_OWN, 'new identity provider'),
  row('GET /v1/admin/organisation/sign-in-trials/{id}', ADMINISTER, 'sign-in trial'),
  row('GET /v1/admin/organisation/sign-in', OWN_SETTINGS),
  row('PUT /v1/admin/organisation/sign-in', OWNERS_OWN, undefined, { single_sign_on_required: false, break_glass_user_ids: [] }),
  row('GET /v1/model-configs/pricing', OWN_SETTINGS),
  row('PUT /v1/model-configs/pricing/{provider}/{model}', OWN_SETTINGS, 'price', { pay_as_you_go: {} }),
  row('DELETE /v1/model-configs/pricing/{provider}/{model}', ADMINISTER, 'price'),
  row('GET /v1/audit-logs', OWN_SETTINGS),
  row('GET /v1/audit-logs/verify', OWN_SETTINGS),
  row('GET /v1/audit-logs/refused-credentials', OWN_SETTINGS),
  row('GET /v1/audit-logs/export', OWN_SETTINGS),
  row('POST /v1/audit-logs/destinations', OWN_SETTINGS, 'new audit destination'),
  row('GET /v1/audit-logs/destinations', OWN_SETTINGS),
  row('GET /v1/audit-logs/destinations/{id}', ADMINISTER, 'audit destination'),
  row('PUT /v1/audit-logs/destinations/{id}', ADMINISTER, 'audit destination', RENAMED),
  row('DELETE /v1/audit-logs/destinations/{id}', ADMINISTER, 'audit destination'),

  row('POST /v1/admin/legal-holds', ADMINISTER, undefined, { reason: 'Case 1', ...HERE }),
  row('GET /v1/admin/legal-holds', OWN_SETTINGS),
  row('GET /v1/admin/legal-holds/{id}', ADMINISTER, 'legal hold'),
  row('POST /v1/admin/legal-holds/{id}/release', ADMINISTER, 'legal hold', { reason: 'Closed' }),

  row('GET /v1/logs', LIST),
  row('POST /v1/logs', LOG_CALLS, undefined, { request: { url: 'https://api.openai.com/v1/chat/completions', body: {} }, response: { body: {} } }),
  row('POST /v1/otel/v1/traces', LOG_CALLS, undefined, { resourceSpans: [] }),
  row('GET /v1/logs/stream', LIST),
  row('POST /v1/logs/exports', READ, undefined, { filters: {}, requested_data: ['id'], ...HERE }),
  row('GET /v1/logs/exports', LIST),
  row('GET /v1/logs/exports/field-restrictions', LIST),
  row('GET /v1/logs/exports/{id}', READ, 'log export'),
  row('PUT /v1/logs/exports/{id}', READ, 'log export', { filters: {}, requested_data: ['id'] }),
  row('POST /v1/logs/exports/{id}/start', READ, 'log export'),
  row('POST /v1/logs/exports/{id}/cancel', READ, 'log export'),
  row('GET /v1/logs/exports/{id}/download', READ, 'finished log export'),
  row('GET /v1/logs/views', LIST),
  row('POST /v1/logs/views', READ, undefined, { name: 'A view', ...HERE }),
  row('PUT /v1/logs/views/{id}', MANAGE, 'shared view', RENAMED),
  row('DELETE /v1/logs/views/{id}', MANAGE, 'shared view'),
  row('GET /v1/logs/{id}', READ, 'log'),
  row('GET /v1/logs/traces/{traceId}', READ, 'trace'),
  row('POST /v1/feedback', GIVE_FEEDBACK, undefined, { trace_id: 't', value: 1 }),
  row('PUT /v1/feedback/{id}', OF_FEEDBACK, 'feedback', { value: 2 }),

  ...[
    'overview', 'facets/{field}', 'summary/cache', 'groups/{groupBy}', 'groups/metadata/{metadataKey}', 'metadata/{metadataKey}',
    'graphs/requests', 'graphs/cost', 'graphs/latency', 'graphs/tokens', 'graphs/users', 'graphs/users/requests',
    'graphs/users-requests', 'graphs/errors', 'graphs/errors/rate', 'graphs/errors-rate', 'graphs/errors/stacks',
    'graphs/errors-stack', 'graphs/errors/status-codes', 'graphs/errors-status-code', 'graphs/requests/rescued',
    'graphs/requests-rescued', 'graphs/cache/hit-rate', 'graphs/cache-hit-rate', 'graphs/cache/latency',
    'graphs/cache-latency', 'graphs/feedbacks', 'graphs/feedbacks/scores', 'graphs/feedbacks/score',
    'graphs/feedbacks/weighted', 'graphs/feedbacks/ai-models',
  ].map((path) => row(`GET /v1/analytics/${path}`, LIST)),
  row('GET /v1/analytics/jobs/{id}', READ, 'analytics job'),
];

/** Whom they let in they answer for as long as they like, so that the walk asks only for those whom they refuse. */
export const ENDLESS: readonly string[] = ['GET /v1/logs/stream'];

/** Doors for those who have no credential: what they send is one, or everybody may know the answer. */
export const PUBLIC: readonly string[] = [
  'GET /v1/logs/exports/{id}/file',
  'GET /v1/auth/single-sign-on/callback/{provider}',
  'GET /v1/auth/single-sign-on/start',
  'GET /v1/model-configs/pricing/{provider}/{model}',
  'POST /v1/admin/invites/accept',
  'POST /v1/auth/passkeys/request-options',
  'POST /v1/auth/passkeys/sign-in',
  'POST /v1/auth/set-up',
  'POST /v1/auth/sign-in',
  'POST /v1/auth/single-sign-on',
  'POST /v1/auth/single-sign-on/back-channel-logout',
];

/** About the caller's own dashboard session. Every other credential is refused; test/integration/sign-in walks through them. */
export const OF_SESSIONS: readonly string[] = [
  'GET /v1/auth/session',
  'GET /v1/auth/sessions',
  'DELETE /v1/auth/sessions',
  'DELETE /v1/auth/sessions/{id}',
  'POST /v1/auth/sign-out',
  'POST /v1/auth/single-sign-on/sign-out',
  'POST /v1/auth/step-up',
  'POST /v1/auth/password',
  'POST /v1/auth/totp',
  'POST /v1/auth/totp/confirm',
  'DELETE /v1/auth/totp',
  'POST /v1/auth/recovery-codes',
  'GET /v1/auth/passkeys',
  'POST /v1/auth/passkeys',
  'POST /v1/auth/passkeys/creation-options',
  'POST /v1/auth/passkeys/step-up',
  'DELETE /v1/auth/passkeys/{id}',
];

/**
 * Changes that carry no authority of a user and need no step-up, by the reason. authority.table.ts has the others; a change that is in
 * neither fails a test.
 */
export const CHANGES_WITHOUT_STEP_UP: Readonly<Record<string, readonly Operation[]>> = {
  'gives no access': [
    'POST /v1/logs/exports/{id}/cancel',
    'POST /v1/virtual-keys/{slug}/test',
    'POST /v1/virtual-keys/test',
    'POST /v1/configs/simulate',
    'POST /v1/guardrails',
    'PUT /v1/guardrails/{guardrail}',
    'DELETE /v1/guardrails/{guardrail}',
    'POST /v1/policies/usage-limits',
    'PUT /v1/policies/usage-limits/{id}',
    'DELETE /v1/policies/usage-limits/{id}',
    'PUT /v1/policies/usage-limits/{id}/entities/{entity}/reset',
    'POST /v1/policies/rate-limits',
    'PUT /v1/policies/rate-limits/{id}',
    'DELETE /v1/policies/rate-limits/{id}',
    'POST /v1/limits/{id}/raise',
    'PUT /v1/model-configs/pricing/{provider}/{model}',
    'DELETE /v1/model-configs/pricing/{provider}/{model}',
    'POST /v1/admin/legal-holds',
    'POST /v1/logs',
    'POST /v1/otel/v1/traces',
    'POST /v1/logs/views',
    'PUT /v1/logs/views/{id}',
    'DELETE /v1/logs/views/{id}',
    'POST /v1/feedback',
    'PUT /v1/feedback/{id}',
  ],
  'usable only by users of the same workspace': [
    'POST /v1/virtual-keys',
    'PUT /v1/virtual-keys/{slug}',
    'POST /v1/virtual-keys/{slug}/duplicate',
    'POST /v1/integrations',
    'PUT /v1/integrations/{slug}',
    'PUT /v1/integrations/{slug}/models',
    'DELETE /v1/integrations/{slug}/models',
    'POST /v1/providers',
    'PUT /v1/providers/{slug}',
    'POST /v1/configs',
    'PUT /v1/configs/{slug}',
    'POST /v1/configs/{slug}/rollback',
  ],
  'only takes access away': [
    'POST /v1/api-keys/revoke',
    'DELETE /v1/api-keys/{id}',
    'DELETE /v1/admin/users/invites/{inviteId}',
    'DELETE /v1/admin/workspaces/{workspaceId}/users/{userId}',
    'DELETE /v1/admin/workspaces/{workspaceId}',
    'DELETE /v1/virtual-keys/{slug}',
    'DELETE /v1/integrations/{slug}',
    'DELETE /v1/providers/{slug}',
    'DELETE /v1/configs/{slug}',
    'POST /v1/auth/single-sign-on/back-channel-logout',
    'POST /v1/auth/single-sign-on/sign-out',
    'POST /v1/auth/sign-out',
    'DELETE /v1/auth/sessions',
    'DELETE /v1/auth/sessions/{id}',
  ],
};
