/** A request that a permission allows, as a path of the API. */
const READS: readonly (readonly [scope: string, pathOf: (workspace: string) => string])[] = [
  ['workspaces.list', () => '/v1/admin/workspaces'],
  ['organisation_users.list', () => '/v1/admin/users'],
  ['organisation_service_api_keys.list', () => '/v1/api-keys'],
  ['workspace_service_api_keys.list', () => '/v1/api-keys'],
  ['workspace_user_api_keys.list', () => '/v1/api-keys'],
  ['virtual_keys.list', () => '/v1/virtual-keys'],
  ['configs.list', (workspace) => `/v1/configs?workspace_id=${workspace}`],
  ['logs.list', () => '/v1/logs?page_size=1'],
  ['audit_logs.list', () => '/v1/audit-logs?page_size=1'],
];

const quoted = (lines: readonly string[]): string => lines.join(' \\\n  ');

/** A chat completion by a virtual key, or by the sandbox without one. */
export function chatCommand(secret: string, virtualKey: string | undefined): string {
  const isSandbox = virtualKey === undefined || virtualKey.endsWith('sandbox');
  const target =
    virtualKey === undefined ? 'x-gateway-provider: sandbox' : `x-gateway-virtual-key: ${virtualKey}`;
  const body = {
    model: isSandbox ? 'sandbox-1' : 'gpt-5-mini',
    messages: [{ role: 'user', content: 'Hello' }],
  };
  return quoted([
    `curl ${location.origin}/v1/chat/completions`,
    `-H "x-gateway-api-key: ${secret}"`,
    `-H "${target}"`,
    '-H "content-type: application/json"',
    `-d '${JSON.stringify(body)}'`,
  ]);
}

interface TriedKey {
  readonly secret: string;
  readonly scopes: readonly string[];
  /** For a chat completion. */
  readonly virtualKey: string | undefined;
  readonly workspace: string;
}

/** A command that tries a key with something that it may do; undefined if there is nothing simple. */
export function commandOf({ secret, scopes, virtualKey, workspace }: TriedKey): string | undefined {
  if (scopes.includes('completions.write')) return chatCommand(secret, virtualKey);
  const [, pathOf] = READS.find(([scope]) => scopes.includes(scope)) ?? [];
  return (
    pathOf && quoted([`curl "${location.origin}${pathOf(workspace)}"`, `-H "x-gateway-api-key: ${secret}"`])
  );
}
