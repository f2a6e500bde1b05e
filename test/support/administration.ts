import { type Answer, jsonOf } from './http-client.js';
import type { Service } from './service.js';

/** An API key as it was shown once. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

export interface VirtualKeyWish {
  readonly name: string;
  /** The provider's own secret. */
  readonly secret: string;
  readonly provider?: string;
  /** Base URL to pin. */
  readonly customHost?: string;
  /** What the account has besides its key. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly workspaceId?: string;
}

/** What a key of an application needs. */
export const APPLICATION_SCOPES = ['completions.write', 'logs.list', 'logs.view'] as const;

/** The administration as a client of its REST interface sees it, with the admin key of the first start. */
export class Administration {
  constructor(private readonly service: Service) {}

  async call(
    method: string,
    path: string,
    body?: object,
    key = this.service.bootstrap.admin_api_key,
  ): Promise<Answer> {
    return this.service.client.call({ method, path, body, headers: { 'x-gateway-api-key': key } });
  }

  /** Calls, and fails unless it was done. */
  async ask(method: string, path: string, body?: object) {
    const answer = await this.call(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
    return answer.body.length > 0 ? jsonOf(answer) : null;
  }

  createKey(
    name: string,
    scopes: readonly string[] = APPLICATION_SCOPES,
    more: object = {},
  ): Promise<CreatedKey> {
    const { workspace_id } = this.service.bootstrap;
    return this.ask('POST', '/v1/api-keys/workspace/service', { name, workspace_id, scopes, ...more });
  }

  deleteKey(id: string): Promise<unknown> {
    return this.ask('DELETE', `/v1/api-keys/${id}`);
  }

  /** Answers the slug. */
  async createVirtualKey({
    name,
    secret,
    provider = 'openai',
    customHost,
    fields,
    workspaceId,
  }: VirtualKeyWish): Promise<string> {
    const created = await this.ask('POST', '/v1/virtual-keys', {
      name,
      provider,
      key: secret,
      workspace_id: workspaceId ?? this.service.bootstrap.workspace_id,
      ...(customHost ? { custom_host: customHost } : {}),
      ...(fields ? { fields } : {}),
    });
    return created.data.slug as string;
  }
}
