import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration, APPLICATION_SCOPES, type CreatedKey } from '../../support/administration.js';
import { jsonOf } from '../../support/http-client.js';
import { drawn, type OddCall, OddProvider, pick } from '../../support/proof/odd/odd-provider.js';
import { RandomConfig } from '../../support/proof/odd/random-config.js';
import { type Place, PLACES, textIn } from '../../support/proof/odd/wires.js';
import type { AttemptRow, LogRow } from '../../support/request-logs.js';
import { eventually, inParallel, sleep } from '../../support/waiting.js';
import { theService } from '../../support/world.js';

/**
 * Whatever a config says and whatever providers do: requests in three clients' dialects, each by a config of its own that is drawn, meet
 * providers of four accounts that answer, refuse, break off, report errors behind a 200 and take their time.
 *
 * `PROOF_REQUESTS=5000 PROOF_SEED=3 npx vitest run --project e2e test/e2e/proof/any-config` is a long run of another sequence.
 */
const COUNT = Number(process.env['PROOF_REQUESTS'] ?? 250);
const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const AT_ONCE = 8;
const LONGEST_MS = 10_000;

/** Nano-dollars a token, in and out, as the providers publish them. */
const PRICES: Readonly<Record<Place, readonly [input: number, output: number]>> = {
  openai: [150, 600],
  larger: [2_500, 10_000],
  claude: [3_000, 15_000],
  gemini: [300, 2_500],
};
/** Tries whose answer was put away, maybe before all of it had come. */
const PUT_AWAY: ReadonlySet<unknown> = new Set(['hedge_lost', 'request_timeout', 'guardrail_denied']);

interface Asked {
  readonly exchange: string;
  readonly config: object;
  readonly leaves: boolean;
  id: string;
  status: number;
  text: string;
  ms: number;
  row: LogRow & { readonly cache_status?: string | null; readonly attempts: readonly AttemptRow[] };
}

const service = theService();
const administration = new Administration(service);
const asked: Asked[] = [];
let provider: OddProvider;
let key: CreatedKey;
const slugs = new Map<string, string>();

const callsOf = ({ exchange }: Asked): OddCall[] =>
  provider.book.filter((call) => call.exchange === exchange);
/** What the provider would charge for all that it told. */
const billOf = (one: Asked): number =>
  callsOf(one).reduce((sum, { place, told }) => {
    const [input, output] = PRICES[place];
    return sum + (told ? told.input * input + told.output * output : 0);
  }, 0);
const costOf = ({ row }: Asked): number =>
  row.attempts.reduce((sum, { cost_nano_usd }) => sum + (cost_nano_usd ?? 0), 0);
/** What is needed to see why. */
const told = (one: Asked): string => JSON.stringify({ ...one, calls: callsOf(one) }, null, 1);
/** Of those for which it does not hold, the first. */
const unless = (holds: (one: Asked) => boolean, among: readonly Asked[] = asked): string | undefined => {
  const wrong = among.find((one) => !holds(one));
  return wrong && told(wrong);
};

function question(exchange: string): { path: string; body: object; isStream: boolean } {
  const random = drawn(`question ${exchange}`);
  const isStream = random(2) === 0;
  const content = `say something ${random(3) === 0 ? 'often' : exchange}`;
  const common = { model: 'gpt-4o-mini', ...(isStream && { stream: true }) };
  const messages = [{ role: 'user', content }];
  return pick(random, [
    { isStream, path: '/v1/chat/completions', body: { ...common, max_tokens: 400, messages } },
    { isStream, path: '/v1/messages', body: { ...common, max_tokens: 400, messages } },
    { isStream, path: '/v1/responses', body: { ...common, max_output_tokens: 400, input: content } },
  ]);
}

async function ask(n: number): Promise<void> {
  const exchange = `any-${SEED}-${n}`;
  const random = drawn(exchange);
  const { path, body, isStream } = question(exchange);
  const one = {
    exchange,
    config: new RandomConfig(random, slugs).make(),
    leaves: isStream && random(8) === 0,
    id: '',
    status: 0,
    text: '',
    ms: 0,
  } as Asked;
  asked.push(one);
  const began = performance.now();
  const headers = {
    'x-gateway-api-key': key.key,
    'x-gateway-config': JSON.stringify(one.config),
    'x-request-id': exchange,
  };
  const answer = await service.client.open({ method: 'POST', path, body, headers });
  one.id = answer.requestId;
  one.status = answer.status;
  if (one.leaves) {
    await sleep(random(60));
    answer.request.destroy();
  }
  try {
    for await (const part of answer.stream) one.text += String(part);
  } catch {
    // A provider that broke off, or we left.
  }
  one.ms = performance.now() - began;
}

async function rowOf(one: Asked): Promise<void> {
  const headers = { 'x-gateway-api-key': key.key };
  one.row = await eventually(
    async () => {
      const answer = await service.client.call({ path: `/v1/logs/${one.id}`, headers });
      return answer.status === 200 ? (jsonOf(answer) as Asked['row']) : null;
    },
    { withinMs: 30_000, everyMs: 100, what: `the row of ${told(one)}` },
  );
}

describe('whatever a config says and whatever providers do', () => {
  beforeAll(
    async () => {
      provider = await OddProvider.start(service.facts.egressPorts, SEED);
      const name = `any-config-${Date.now().toString(36)}`;
      key = await administration.createKey(name, APPLICATION_SCOPES, {
        usage_limits: [{ type: 'cost', credit_limit: 1_000 }],
        // More than run at once, and fewer than there are: a place that is not given back is missed.
        rate_limits: [{ type: 'concurrency', value: 8 * AT_ONCE }],
      });
      for (const place of Object.keys(PLACES) as Place[]) {
        const wish = {
          name: `${name}-${place}`,
          provider: PLACES[place].provider,
          secret: 'sk-of-the-proof',
        };
        const customHost = `${provider.upstream.url}/${place}`;
        slugs.set(place, await administration.createVirtualKey({ ...wish, customHost }));
      }
      await inParallel(
        Array.from({ length: COUNT }, (_, n) => n),
        AT_ONCE,
        ask,
      );
      await inParallel(asked, AT_ONCE, rowOf);
    },
    60_000 + COUNT * 200,
  );
  afterAll(() => provider.upstream.stop());

  it('every request gets a response, in time, and never fails because of the gateway', () => {
    expect(unless(({ status, ms }) => status >= 200 && ms < LONGEST_MS)).toBeUndefined();
    expect(unless(({ text }) => !/internal_error|concurrency_limited/.test(text))).toBeUndefined();
  });

  it("every complete response equals the provider's output", () => {
    const isWhole = (one: Asked): boolean =>
      !one.leaves && one.status === 200 && one.row.ending === 'completed' && one.row.error_code === null;
    /** Nonsense and errors pass as they came where the client speaks their dialect. */
    const isOdd = (one: Asked): boolean =>
      callsOf(one).some(({ kind }) => kind === 'empty' || kind === 'nonsense' || kind.startsWith('an error'));
    const whole = asked.filter((one) => isWhole(one) && !isOdd(one));

    expect(whole.length).toBeGreaterThan(COUNT / 4);
    expect(unless(({ text }) => textIn(text).includes('well then'), whole)).toBeUndefined();
  });

  it('the log has a try for each call, and the request costs what its tries do', () => {
    /** One that was given up before it arrived. */
    const missing = ({ row }: Asked): number => row.attempts.filter(({ status }) => status === null).length;
    const fits = (one: Asked): boolean => {
      const [calls, tries] = [callsOf(one).length, one.row.attempts.length];
      return calls <= tries && tries <= calls + missing(one);
    };

    expect(unless(fits)).toBeUndefined();
    expect(unless((one) => (one.row.cost_nano_usd ?? 0) === costOf(one))).toBeUndefined();
  });

  it('the usage that providers reported is charged, to the nano-dollar', () => {
    const heard = asked.filter(
      ({ leaves, row }) => !leaves && !row.attempts.some(({ error_code }) => PUT_AWAY.has(error_code)),
    );
    const isAllTold = (one: Asked): boolean =>
      callsOf(one).every(({ told: usage, kind }) => usage !== null || /^\d+$/.test(kind));

    expect(unless((one) => costOf(one) >= billOf(one), heard)).toBeUndefined();
    expect(unless((one) => costOf(one) === billOf(one), heard.filter(isAllTold))).toBeUndefined();
  });

  it('the budget has the same sum, and nothing stays reserved', async () => {
    const sum = asked.reduce((all, one) => all + costOf(one), 0);
    const spent = async (): Promise<number> => {
      const { usage_limits } = await administration.ask('GET', `/v1/api-keys/${key.id}`);
      return Math.round(Number(usage_limits.usage ?? usage_limits[0]?.usage) * 1e9);
    };

    await eventually(async () => (await spent()) === sum, {
      withinMs: 10_000,
      what: `the budget to say ${sum}`,
    });
    expect(sum).toBeGreaterThan(0);
  });
});
