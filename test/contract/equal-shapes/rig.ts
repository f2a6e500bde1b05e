import { loadSettings } from '../../../src/common/settings/settings.js';
import { Egress } from '../../../src/egress/egress.js';
import { wireOf } from '../../../src/gateway/upstream/wire.js';
import type { Provider } from '../../../src/providers/provider.js';
import { providers } from '../../../src/providers/catalog/registry.js';
import { type AccountWish, aGateway, type GatewayWishes, type TestGateway } from '../../support/gateway.js';
import { type Answer, type Call, type HeaderList, HttpClient } from '../../support/http-client.js';
import { EchoUpstream, header, type Received, type Script } from '../../support/upstreams/echo.js';

/** Every provider of the catalogue except the sandbox, which runs inside the gateway. */
export const CALLED: readonly Provider[] = [...providers.values()].filter(({ inProcess }) => !inProcess);

/** The custom host of providers that have no base URL. */
const OWN_HOST = 'https://models.example/base';

/** Identifies an exchange. The cache key ignores this header. */
const EXCHANGE = 'x-request-id';

/** What the provider and the client received. */
export interface Exchanged {
  /** The provider's last request; null for none. */
  readonly received: Received | null;
  readonly all: readonly Received[];
  readonly answer: Answer;
}

/**
 * The built pipeline with one virtual key per provider, whose slug is the provider's id. The real HTTP client sends every
 * request to one local server, whatever its origin, and that server records the bytes. Requests are not signed.
 */
export class Rig {
  private readonly plans = new Map<string, readonly Script[]>();
  private readonly seen = new Map<string, Received[]>();
  private count = 0;

  private constructor(
    readonly gateway: TestGateway,
    private readonly client: HttpClient,
    private readonly upstream: EchoUpstream,
  ) {}

  static async start(wishes: GatewayWishes = {}): Promise<Rig> {
    const upstream = await EchoUpstream.start();
    const { egressAllow, timeouts } = loadSettings({ GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*' });
    const egress = new Egress({ allow: egressAllow, timeouts });
    const gateway = await aGateway({
      virtualKeys: Object.fromEntries(CALLED.map((provider) => [provider.id, accountOf(provider)])),
      wire: ({ tenant }) => wireOf(egress.origin(tenant, upstream.url), upstream.url),
      ...wishes,
    });
    const rig = new Rig(gateway, new HttpClient(gateway.url), upstream);
    upstream.otherwise((received) => rig.answerTo(received));
    return rig;
  }

  async close(): Promise<void> {
    this.client.close();
    await this.gateway.close();
    await this.upstream.stop();
  }

  /** Sends a request, which the provider answers as the script says, and as `later` says when it comes again. */
  async exchange(call: Call, script: Script, later: Script = script): Promise<Exchanged> {
    const id = String(++this.count);
    this.plans.set(id, [script, later]);
    this.seen.set(id, []);
    const headers = { 'x-gateway-api-key': this.gateway.key, ...call.headers, [EXCHANGE]: id };
    const answer = await this.client.call({ ...call, headers });
    const all = this.seen.get(id) ?? [];
    this.plans.delete(id);
    this.seen.delete(id);
    return { received: all.at(-1) ?? null, all, answer };
  }

  private answerTo(received: Received): Script {
    const id = header(received, EXCHANGE) ?? '';
    const before = this.seen.get(id)?.push(received) ?? 1;
    this.upstream.ledger.length = 0;
    return this.plans.get(id)?.[before === 1 ? 0 : 1] ?? {};
  }
}

/** An account with the required fields only. */
function accountOf({ id, baseUrl, fields = [] }: Provider): AccountWish {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name, example }) => [name, example]);
  return {
    providerId: id,
    customHost: baseUrl === null ? OWN_HOST : null,
    fields: Object.fromEntries(required) as Record<string, string>,
  };
}

/** Headers of a provider's answer. */
export const typed = (type: string, others: HeaderList = []): HeaderList => [
  ['Content-Type', type],
  ['X-Odd', 'kept  as it is'],
  ...others,
];
