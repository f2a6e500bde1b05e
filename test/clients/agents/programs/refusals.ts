import { randomBytes } from 'node:crypto';
import { APPLICATION_SCOPES } from '../../../support/administration.js';
import { World } from '../../../support/world.js';

/** Where the virtual keys of a refused request lead: an upstream that is not asked, that is slow or that is down, or nowhere. */
type Place = 'unused' | 'slow' | 'down' | 'missing';

/** An error of the gateway that every program gets by its API key or its virtual key alone. */
export interface Refusal {
  /** As the table of docs/clients.md names it. */
  readonly name: string;
  readonly status: number;
  /** The part of its sentence that is the same each time. */
  readonly says: string;
  readonly place?: Place;
  /** Fields of the API key. */
  readonly key?: object;
  readonly scopes?: readonly string[];
  /** The config of the API key, for requests to this virtual key. */
  readonly config?: (slug: string) => object;
  /** The limit of the key is used up by one request. */
  readonly isUsedUp?: true;
}

const requestsPer = (unit: string) => ({ rate_limits: [{ type: 'requests', unit, value: 1 }] });
const NO_WORD = { 'default.contains': { operator: 'none', words: ['shell'] }, deny: true };

export const REFUSALS: readonly Refusal[] = [
  {
    name: '400 `no_target`',
    status: 400,
    says: 'The request meets no condition of its config',
    config: (slug) => ({
      strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.team': 'blue' }, then: 'blue' }] },
      targets: [{ name: 'blue', virtual_key: slug }],
    }),
  },
  { name: '401 `unauthenticated`', status: 401, says: 'Send a valid key, which begins with gw_' },
  {
    name: '402 `budget_exceeded`',
    status: 402,
    says: 'this request may use up to',
    key: { usage_limits: { credit_limit: 0.000001 } },
  },
  {
    name: '403 `forbidden`',
    status: 403,
    says: 'This credential does not allow the request',
    scopes: ['logs.list'],
  },
  { name: '404 `not_found`', status: 404, says: 'There is no such virtual key', place: 'missing' },
  {
    name: '408 `request_timeout`',
    status: 408,
    says: 'did not respond within 500 ms',
    place: 'slow',
    config: () => ({ request_timeout: 500 }),
  },
  {
    name: '429 `rate_limited`, an hour',
    status: 429,
    says: 'The rate limit of',
    key: requestsPer('rph'),
    isUsedUp: true,
  },
  {
    name: '446 `guardrail_denied`',
    status: 446,
    says: 'denied the request',
    config: () => ({ input_guardrails: [NO_WORD] }),
  },
  { name: '503 of the provider', status: 503, says: 'The model is overloaded', place: 'down' },
];

const PROVIDERS = { anthropic: '/v1', google: '/v1beta', openai: '/v1' };

/** A workspace in which each refusal has an API key and virtual keys. */
export class RefusingPlaces {
  private readonly slugs = new Map<string, string>();

  private constructor(readonly world: World) {}

  static async create(): Promise<RefusingPlaces> {
    const places = new RefusingPlaces(await World.create('refusals'));
    places.world.upstream.otherwise(({ target }) =>
      target.startsWith('/slow') ? { delayMs: 20_000 } : DOWN,
    );
    for (const place of ['unused', 'slow', 'down'] as const)
      for (const [provider, base] of Object.entries(PROVIDERS)) await places.add(place, provider, base);
    return places;
  }

  slugOf({ place = 'unused' }: Refusal, provider: string): string {
    return this.slugs.get(`${place} ${provider}`) ?? 'no-such-key';
  }

  /** A key whose requests to this provider get this refusal. */
  async keyFor(refusal: Refusal, provider: string): Promise<string> {
    const { administration } = this.world;
    if (refusal.status === 401) return this.world.apiKey.key.replace(/.{6}$/, 'xxxxxx');
    const { scopes = APPLICATION_SCOPES, config, key = {} } = refusal;
    const document = config?.(this.slugOf(refusal, provider));
    const defaults = document ? { defaults: { config_id: await this.configFor(document) } } : {};
    const name = `refused-${randomBytes(6).toString('hex')}`;
    const { key: secret } = await administration.createKey(name, scopes, { ...key, ...defaults });
    if (refusal.isUsedUp) await this.ask(refusal, provider, secret);
    return secret;
  }

  /** The response to a request of messages. */
  async ask(refusal: Refusal, provider: string, apiKey: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${this.world.service.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': apiKey,
        'x-gateway-virtual-key': this.slugOf(refusal, provider),
      },
      body: JSON.stringify({
        model: 'claude-opus-4-8',
        max_tokens: 1_000,
        messages: [{ role: 'user', content: 'Use your shell tool.' }],
      }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  private async configFor(config: object): Promise<string> {
    const { administration, service } = this.world;
    const made = await administration.ask('POST', '/v1/configs', {
      name: `refusal-${randomBytes(4).toString('hex')}`,
      config,
      workspace_id: service.bootstrap.workspace_id,
    });
    return made.data.slug as string;
  }

  private async add(place: Place, provider: string, base: string): Promise<void> {
    const { administration, providerSecret: secret, upstream } = this.world;
    const name = `${place}-${provider}-${randomBytes(4).toString('hex')}`;
    const customHost = `${upstream.url}/${place}${base}`;
    const slug = await administration.createVirtualKey({ name, provider, secret, customHost });
    this.slugs.set(`${place} ${provider}`, slug);
  }
}

/** Anthropic's and Google's errors in one body; each of their clients reads its own fields. */
const DOWN = {
  status: 503,
  headers: [['content-type', 'application/json']] as [string, string][],
  body: JSON.stringify({
    type: 'error',
    error: {
      type: 'overloaded_error',
      code: 503,
      status: 'UNAVAILABLE',
      message: 'The model is overloaded.',
    },
  }),
};
