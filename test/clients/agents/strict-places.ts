import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { type Checked, serveStrictly } from '../../support/upstreams/strict/index.js';
import type { MoveOf } from '../../support/upstreams/strict/scene.js';
import { World } from '../../support/world.js';

/** A provider that checks what it gets, and a model of it. */
export interface Place {
  readonly provider: string;
  readonly model: string;
  /** Below the upstream's address, as the provider's base URL has it. */
  readonly base: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The provider reports what was written to the cache. */
  readonly countsWrites?: true;
  /** The model shows and signs its thoughts. */
  readonly signs?: true;
}

const AWS = { 'aws-region': 'us-east-1', 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' };

export const PLACES: readonly Place[] = [
  { provider: 'openai', model: 'gpt-4o', base: '/v1' },
  { provider: 'openai', model: 'gpt-5', base: '/v1' },
  { provider: 'anthropic', model: 'claude-sonnet-4-5', base: '/v1', countsWrites: true, signs: true },
  { provider: 'anthropic', model: 'claude-opus-4-8', base: '/v1', countsWrites: true, signs: true },
  { provider: 'google', model: 'gemini-2.5-flash', base: '/v1beta' },
  { provider: 'google', model: 'gemini-3-pro-preview', base: '/v1beta' },
  {
    provider: 'bedrock',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    base: '',
    fields: AWS,
    countsWrites: true,
    signs: true,
  },
];

/** One red pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A workspace with a virtual key for each provider, and the strict upstream behind them. */
export class StrictPlaces {
  private readonly slugs = new Map<string, string>();

  private constructor(
    readonly world: World,
    readonly checked: Checked[],
  ) {}

  /** `moveOf`: what the models do with their tools; by default they call the first and the last. */
  static async create(name: string, moveOf?: MoveOf): Promise<StrictPlaces> {
    const world = await World.create(name);
    const places = new StrictPlaces(world, serveStrictly(world.upstream, moveOf));
    for (const place of new Map(PLACES.map((it) => [it.provider, it])).values()) await places.add(place);
    return places;
  }

  /** The address of the service without a path. */
  get root(): string {
    return this.world.service.baseUrl;
  }

  slugOf(provider: string): string {
    return this.slugs.get(provider) ?? '';
  }

  headersFor(provider: string): Record<string, string> {
    return {
      'x-gateway-api-key': this.world.apiKey.key,
      'x-gateway-virtual-key': this.slugOf(provider),
    };
  }

  /** The upstream has accepted all requests since the last check, and at least this many. */
  checkAccepted(atLeast: number): void {
    const seen = this.checked.splice(0);
    expect(seen.flatMap(({ path, refused }) => (refused === null ? [] : [`${path}: ${refused}`]))).toEqual(
      [],
    );
    expect(seen.length).toBeGreaterThanOrEqual(atLeast);
  }

  close(): Promise<void> {
    return this.world.close();
  }

  private async add({ provider, base, fields }: Place): Promise<void> {
    const { administration, providerSecret: secret, upstream } = this.world;
    const slug = await administration.createVirtualKey({
      name: `${provider}-${randomBytes(4).toString('hex')}`,
      provider,
      secret,
      customHost: upstream.url + base,
      ...(fields ? { fields } : {}),
    });
    this.slugs.set(provider, slug);
  }
}
