/**
 * Who may do what: one line for each operation of the administration, which a test walks through against the running
 * service, and docs/permissions.md shows. An operation without a line fails that test.
 *
 * The statuses stand in the order of CALLERS. What is asked for (`on`) lies in "this workspace".
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
  ['nobody', 'nobody'],
] as const;

export type CallerName = (typeof CALLERS)[number][0];

export interface Permission {
  readonly operation: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}` | `POST /v2/${string}`;
  /** In the order of CALLERS, in groups: people, keys, others. */
  readonly statuses: string;
  /** The thing that the path names, made anew for each call; its kind is one that the test knows how to make. */
  readonly on?:
    'api key' | 'api key in the body' | 'admin key' | 'virtual key' | 'log' | 'setting' | 'new setting';
  readonly body?: object;
}

const WORKSPACE = { workspace_id: 'ws-default' };
const KEY = { name: 'A key', scopes: ['logs.view'] };

/* prettier-ignore */
export const PERMISSIONS: readonly Permission[] = [
  //                                                               owner admin manager elsewhere member | admin key, this, elsewhere, without, expired | stranger, nobody
  { operation: 'POST /v1/api-keys/organisation/service', statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401', body: KEY },
  { operation: 'POST /v1/api-keys/workspace/service',    statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', body: { ...KEY, ...WORKSPACE } },
  { operation: 'POST /v1/api-keys/workspace/user',       statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', body: { ...KEY, ...WORKSPACE } },
  { operation: 'GET /v1/api-keys',                       statuses: '200 200 200 200 200 | 200 200 200 403 401 | 200 401' },
  { operation: 'GET /v1/api-keys/{id}',                  statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'api key' },
  { operation: 'PUT /v1/api-keys/{id}',                  statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'api key', body: { name: 'Another' } },
  { operation: 'DELETE /v1/api-keys/{id}',               statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'api key' },
  { operation: 'POST /v1/api-keys/{id}/rotate',          statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'api key', body: {} },
  { operation: 'POST /v2/api-keys/{id}/rotate',          statuses: '200 200 404 404 403 | 200 404 404 403 401 | 404 401', on: 'admin key', body: {} },
  { operation: 'POST /v1/api-keys/revoke',               statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'api key in the body' },
  { operation: 'POST /v1/virtual-keys',                  statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', body: { name: 'A key', provider: 'openai', key: 'sk-canary', ...WORKSPACE } },
  { operation: 'GET /v1/virtual-keys',                   statuses: '200 200 200 200 200 | 200 200 200 403 401 | 200 401' },
  { operation: 'GET /v1/virtual-keys/{slug}',            statuses: '200 200 200 404 200 | 200 200 404 403 401 | 404 401', on: 'virtual key' },
  { operation: 'PUT /v1/virtual-keys/{slug}',            statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'virtual key', body: { name: 'Another' } },
  { operation: 'DELETE /v1/virtual-keys/{slug}',         statuses: '200 200 200 404 403 | 200 200 404 403 401 | 404 401', on: 'virtual key' },
  { operation: 'POST /v1/configs/simulate',              statuses: '200 200 200 404 200 | 200 200 404 403 401 | 404 401', body: { config: { provider: 'sandbox' }, ...WORKSPACE } },
  { operation: 'GET /v1/logs',                           statuses: '200 200 200 200 200 | 200 200 200 403 401 | 200 401' },
  { operation: 'GET /v1/logs/{id}',                      statuses: '200 200 200 404 200 | 200 200 404 403 401 | 404 401', on: 'log' },
  { operation: 'GET /v1/audit-logs',                     statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401' },
  { operation: 'GET /v1/audit-logs/export',              statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401' },
  { operation: 'GET /v1/admin/me',                       statuses: '200 200 200 200 200 | 200 200 200 200 401 | 200 401' },
  { operation: 'GET /v1/admin/organisation',             statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401' },
  { operation: 'PUT /v1/admin/organisation',             statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401', body: { log_bodies: true } },
  { operation: 'GET /v1/admin/organisation/jwt',         statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401', on: 'setting' },
  { operation: 'PUT /v1/admin/organisation/jwt',         statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401', on: 'new setting' },
  { operation: 'DELETE /v1/admin/organisation/jwt',      statuses: '200 200 403 403 403 | 200 403 403 403 401 | 200 401', on: 'setting' },
];

/**
 * Operations of which only the guards are walked through here, by callers whom they refuse; who of the others may what is
 * in the tests of their rooms. A line above is worth more: move them there.
 */
export const GUARDED: readonly string[] = [
  'GET /v1/admin/users',
  'GET /v1/admin/users/{userId}',
  'PUT /v1/admin/users/{userId}',
  'DELETE /v1/admin/users/{userId}',
  'POST /v1/admin/users/{userId}/transfer-ownership',
  'GET /v1/admin/users/invites',
  'POST /v1/admin/users/invites',
  'GET /v1/admin/users/invites/{inviteId}',
  'DELETE /v1/admin/users/invites/{inviteId}',
  'POST /v1/admin/users/invites/{inviteId}/resend',
  'GET /v1/admin/workspaces',
  'POST /v1/admin/workspaces',
  'GET /v1/admin/workspaces/{workspaceId}',
  'PUT /v1/admin/workspaces/{workspaceId}',
  'DELETE /v1/admin/workspaces/{workspaceId}',
  'GET /v1/admin/workspaces/{workspaceId}/users',
  'POST /v1/admin/workspaces/{workspaceId}/users',
  'GET /v1/admin/workspaces/{workspaceId}/users/{userId}',
  'PUT /v1/admin/workspaces/{workspaceId}/users/{userId}',
  'DELETE /v1/admin/workspaces/{workspaceId}/users/{userId}',
  'POST /v1/virtual-keys/{slug}/duplicate',
  'POST /v1/virtual-keys/{slug}/copy',
  'POST /v1/configs',
  'GET /v1/configs',
  'GET /v1/configs/{slug}',
  'PUT /v1/configs/{slug}',
  'DELETE /v1/configs/{slug}',
  'GET /v1/configs/{slug}/versions',
  'GET /v1/configs/{slug}/versions/{version_id}',
  'GET /v1/configs/{slug}/diff',
  'POST /v1/configs/{slug}/rollback',
  'POST /v1/integrations',
  'GET /v1/integrations',
  'GET /v1/integrations/{slug}',
  'PUT /v1/integrations/{slug}',
  'DELETE /v1/integrations/{slug}',
  'GET /v1/integrations/{slug}/models',
  'PUT /v1/integrations/{slug}/models',
  'DELETE /v1/integrations/{slug}/models',
  'GET /v1/integrations/{slug}/workspaces',
  'PUT /v1/integrations/{slug}/workspaces',
  'POST /v1/providers',
  'GET /v1/providers',
  'GET /v1/providers/{slug}',
  'PUT /v1/providers/{slug}',
  'DELETE /v1/providers/{slug}',
  'GET /v1/model-configs/pricing',
  'PUT /v1/model-configs/pricing/{provider}/{model}',
  'DELETE /v1/model-configs/pricing/{provider}/{model}',
  'POST /v1/policies/usage-limits',
  'GET /v1/policies/usage-limits',
  'GET /v1/policies/usage-limits/{id}',
  'PUT /v1/policies/usage-limits/{id}',
  'DELETE /v1/policies/usage-limits/{id}',
  'GET /v1/policies/usage-limits/{id}/entities',
  'PUT /v1/policies/usage-limits/{id}/entities/{entity}/reset',
  'POST /v1/policies/rate-limits',
  'GET /v1/policies/rate-limits',
  'GET /v1/policies/rate-limits/{id}',
  'PUT /v1/policies/rate-limits/{id}',
  'DELETE /v1/policies/rate-limits/{id}',
  'POST /v1/guardrails',
  'GET /v1/guardrails',
  'GET /v1/guardrails/{guardrail}',
  'PUT /v1/guardrails/{guardrail}',
  'DELETE /v1/guardrails/{guardrail}',
  'GET /v1/logs/traces/{traceId}',
  'GET /v1/analytics/summary/cache',
  'GET /v1/analytics/groups/metadata/{metadataKey}',
  'GET /v1/analytics/metadata/{metadataKey}',
  'GET /v1/analytics/groups/{groupBy}',
  'GET /v1/analytics/graphs/requests',
  'GET /v1/analytics/graphs/cost',
  'GET /v1/analytics/graphs/latency',
  'GET /v1/analytics/graphs/tokens',
  'GET /v1/analytics/graphs/users',
  'GET /v1/analytics/graphs/users/requests',
  'GET /v1/analytics/graphs/users-requests',
  'GET /v1/analytics/graphs/errors',
  'GET /v1/analytics/graphs/errors/rate',
  'GET /v1/analytics/graphs/errors-rate',
  'GET /v1/analytics/graphs/errors/stacks',
  'GET /v1/analytics/graphs/errors-stack',
  'GET /v1/analytics/graphs/errors/status-codes',
  'GET /v1/analytics/graphs/errors-status-code',
  'GET /v1/analytics/graphs/requests/rescued',
  'GET /v1/analytics/graphs/requests-rescued',
  'GET /v1/analytics/graphs/cache/hit-rate',
  'GET /v1/analytics/graphs/cache-hit-rate',
  'GET /v1/analytics/graphs/cache/latency',
  'GET /v1/analytics/graphs/cache-latency',
  'GET /v1/analytics/graphs/feedbacks',
  'GET /v1/analytics/graphs/feedbacks/scores',
  'GET /v1/analytics/graphs/feedbacks/score',
  'GET /v1/analytics/graphs/feedbacks/weighted',
  'GET /v1/analytics/graphs/feedbacks/ai-models',
  'POST /v1/feedback',
  'PUT /v1/feedback/{id}',
];

/** Doors for those who have no credential yet: what they send is one. */
export const PUBLIC: readonly string[] = [
  'GET /v1/model-configs/pricing/{provider}/{model}',
  'POST /v1/admin/invites/accept',
];
