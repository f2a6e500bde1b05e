import { randomBytes } from 'node:crypto';
import type { LLMock } from '@copilotkit/aimock';
import { expect } from 'vitest';
import type { LogRow } from '../support/request-logs.js';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { World } from '../support/world.js';

/** What a request must have left in the log. */
interface Expected {
  readonly provider: string;
  /** As the client sent it. */
  readonly path: string;
  readonly input: number;
  readonly output: number;
  readonly costNanoUsd: number;
}

/**
 * Providers behind one workspace, for other people's clients: some are simulated, others play what a test has scripted in
 * `world.upstream`. Each has a virtual key, which the headers choose.
 */
export class Providers {
  private readonly slugs = new Map<string, string>();

  private constructor(
    readonly world: World,
    readonly simulator: LLMock,
  ) {}

  /** `simulated` and `scripted`: what each provider's base URL has below the host, `/v1`. */
  static async create(
    name: string,
    simulated: Readonly<Record<string, string>>,
    scripted: Readonly<Record<string, string>> = {},
  ): Promise<Providers> {
    const world = await World.create(name);
    const providers = new Providers(world, await simulatedOpenAi(world.service.facts.egressPorts));
    for (const [provider, base] of Object.entries(simulated))
      await providers.add(provider, provider, providers.simulator.url + base);
    for (const [provider, base] of Object.entries(scripted))
      await providers.add(`scripted ${provider}`, provider, world.upstream.url + base);
    return providers;
  }

  /** The address of the service without a path. */
  get root(): string {
    return this.world.service.baseUrl;
  }

  get base(): string {
    return `${this.root}/v1`;
  }

  headersFor(name: string): Record<string, string> {
    return {
      'x-gateway-api-key': this.world.apiKey.key,
      'x-gateway-virtual-key': this.slugs.get(name) ?? '',
    };
  }

  /** Has the scripted upstream answer a path with JSON. */
  answers(path: string, body: object): void {
    this.world.upstream.on(path, {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify(body),
    });
  }

  /** Has the scripted upstream answer a path with a stream of events. */
  streams(path: string, events: readonly (object | string)[]): void {
    const lines = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
    this.world.upstream.on(path, {
      headers: [['content-type', 'text/event-stream']],
      body: lines.map((line) => `data: ${line}\n\n`).join(''),
    });
  }

  /** What the scripted upstream was last asked, as JSON. */
  lastAsked(): unknown {
    return JSON.parse(this.world.upstream.ledger.at(-1)?.body.toString() ?? 'null');
  }

  /** Each expected row is in the log, with its tokens and its cost, and says that its request was completed. */
  async checkRows(expected: readonly Expected[]): Promise<void> {
    const found = (rows: readonly LogRow[]): unknown[] =>
      expected.map(({ provider, path }) =>
        rows.filter((row) => row.provider === provider && row.path === path).map(factsOf),
      );
    const wanted = expected.map(({ input, output, costNanoUsd }) =>
      expect.arrayContaining([[input, output, costNanoUsd, 'completed']]),
    );
    await expect.poll(async () => found(await this.world.rows())).toEqual(wanted);
  }

  async close(): Promise<void> {
    await this.simulator.stop();
    await this.world.close();
  }

  private async add(name: string, provider: string, customHost: string): Promise<void> {
    const { administration, providerSecret } = this.world;
    const unique = `${provider}-${randomBytes(4).toString('hex')}`;
    const slug = await administration.createVirtualKey({
      name: unique,
      provider,
      secret: providerSecret,
      customHost,
    });
    this.slugs.set(name, slug);
  }
}

const factsOf = ({ input_tokens, output_tokens, cost_nano_usd, ending }: LogRow): unknown => [
  input_tokens,
  output_tokens,
  cost_nano_usd,
  ending,
];
