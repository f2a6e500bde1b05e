import type { VirtualKey } from './virtual-keys';

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

/** A small chat model of each of the most used providers. */
const EXAMPLE_MODELS: Readonly<Record<string, string>> = {
  sandbox: 'sandbox-1',
  openai: 'gpt-5-mini',
  anthropic: 'claude-haiku-4-5',
  google: 'gemini-2.5-flash',
  'mistral-ai': 'mistral-small-latest',
  cohere: 'command-r7b-12-2024',
};

/** Stands for a model that the reader names. */
const ANY_MODEL = 'YOUR_MODEL';

type UsedVirtualKey = Pick<VirtualKey, 'slug' | 'provider'>;

/** A chat completion by a virtual key, or by the sandbox without one. */
export function chatCommand(secret: string, virtualKey: UsedVirtualKey | undefined): string {
  const target =
    virtualKey === undefined ? 'x-gateway-provider: sandbox' : `x-gateway-virtual-key: ${virtualKey.slug}`;
  const body = {
    model: EXAMPLE_MODELS[virtualKey?.provider ?? 'sandbox'] ?? ANY_MODEL,
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
  readonly virtualKey: UsedVirtualKey | undefined;
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
