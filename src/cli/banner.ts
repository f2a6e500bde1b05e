import type { BootstrapFile } from './bootstrap-file.js';

/** The facts shown once the service is up. */
export interface LaunchReport {
  readonly baseUrl: string;
  readonly bootstrapPath: string;
  /** Created by this start; null on later starts, because keys are shown once. */
  readonly made: BootstrapFile | null;
  /** Whether the key file is still where the first start wrote it. */
  readonly keysKept: boolean;
  /** The output is a terminal: keys and the set-up link are secrets, and other outputs are stored. */
  readonly showsKeys: boolean;
}

const QUESTION = '{"model":"sandbox-1","messages":[{"role":"user","content":"Hello"}]}';

/** The text shown when all gateways are ready. */
export function banner(launched: LaunchReport): string {
  const lines = ['', `  Gatehouse listens on ${launched.baseUrl}`, '', ...aboutKeys(launched), ''];
  return lines.join('\n');
}

function aboutKeys({ baseUrl, bootstrapPath, made, keysKept, showsKeys }: LaunchReport): string[] {
  if (!made || !showsKeys) return keysKept ? [`  The first keys are in ${bootstrapPath}`] : [];
  return [
    `  Admin API key       ${made.admin_api_key}`,
    `  Workspace API key   ${made.workspace_api_key}`,
    ...(made.setup_url ? [`  Set up dashboard    ${made.setup_url} (one use, within 7 days)`] : []),
    `  Shown only now, and stored in ${bootstrapPath}`,
    '',
    '  Send a first request. The provider "sandbox" is built in and needs no account:',
    '',
    sandboxRequest(baseUrl, made.workspace_api_key),
  ];
}

/** One unwrapped line, so that it can be pasted. */
export function sandboxRequest(baseUrl: string, workspaceKey: string): string {
  return [
    `curl ${baseUrl}/v1/chat/completions`,
    `-H "x-gateway-api-key: ${workspaceKey}"`,
    '-H "x-gateway-provider: sandbox"',
    '-H "content-type: application/json"',
    `-d '${QUESTION}'`,
  ].join(' ');
}
