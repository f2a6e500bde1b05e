import { randomUUID } from 'node:crypto';
import type { Answer } from '../http-client.js';
import type { Service } from '../service.js';
import { SeededRandom } from '../random.js';
import { inParallel, sleep } from '../waiting.js';
import { billOf, type Booked, type ScriptedProvider, type Task, textOf } from './scripted-provider.js';
import { PRICES, UNPRICED } from './prices.js';
import type { Fact } from './facts.js';
import type { Tenant } from './tenant.js';

/** One request as its client made it and what it saw. */
export interface Asked {
  readonly exchange: string;
  readonly tenant: Tenant;
  readonly keyId: string;
  readonly via: 'virtual key' | 'fallback' | 'cache' | 'nothing';
  readonly model: string;
  /** Which of the questions that the cache may answer; null for all others. */
  readonly question: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly sentAt: number;
  /** `x-gateway-request-id`; its first 48 bits are the moment of arrival. */
  id: string;
  status: number;
  endedAt: number;
}

/** What must be known of a request afterwards: the client's side, and the provider's book. Nothing of it comes from the log. */
export interface Known extends Asked {
  /** Arrival, milliseconds since the epoch. */
  readonly at: number;
  readonly calls: readonly Booked[];
  readonly cacheStatus: 'HIT' | 'MISS' | '';
  readonly virtualKey: string;
  readonly provider: string;
  readonly config: string;
  readonly input: number;
  readonly output: number;
  /** Nano-dollars; null when nobody knows. */
  readonly cost: number | null;
  readonly saved: number;
  readonly retries: number;
  readonly fallbacks: number;
}

const MOST_AT_ONCE = 24;
const QUESTIONS = 40;

/** Numbers that are the same in every run of the same seed. */
export function numbers(seed: number): (below: number) => number {
  const random = new SeededRandom(seed);
  return (below) => random.whole(0, below - 1);
}

/** Sends so many requests of all kinds and tells what must be known of them. */
export class KnownRequests {
  private readonly asked: Asked[] = [];
  private readonly next: (below: number) => number;
  private readonly run = randomUUID().slice(0, 8);

  constructor(
    private readonly service: Service,
    private readonly provider: ScriptedProvider,
    private readonly tenants: readonly Tenant[],
    seed = 42,
  ) {
    this.next = numbers(seed);
  }

  get count(): number {
    return this.asked.length;
  }

  async send(count: number): Promise<void> {
    await inParallel(Array.from({ length: count }), MOST_AT_ONCE, () => this.one(this.asked.length));
  }

  /** Sends until told to stop, at most so many at once, each of which rests before its next. */
  async sendWhile(goesOn: () => boolean, width = MOST_AT_ONCE, restMs = 5): Promise<void> {
    await Promise.all(
      Array.from({ length: width }, async () => {
        while (goesOn()) {
          await this.one(this.asked.length);
          await sleep(restMs);
        }
      }),
    );
  }

  /** To be asked when all are over. */
  known(): Known[] {
    const calls = this.provider.byExchange();
    const callsOf = ({ exchange }: Asked): readonly Booked[] => calls.get(exchange) ?? [];
    const stored = new Map(
      this.asked.flatMap((asked) => {
        const [call] = callsOf(asked);
        return asked.question !== null && call ? [[questionOf(asked), call] as const] : [];
      }),
    );
    return this.asked.map((asked) => knownOf(asked, callsOf(asked), stored.get(questionOf(asked))));
  }

  private pick<T>(values: readonly T[]): T {
    return values[this.next(values.length)] as T;
  }

  private async one(n: number): Promise<void> {
    const tenant = this.pick(this.tenants);
    const key = this.pick(tenant.keys);
    const kind = this.pick(KINDS);
    const isCached = kind === 'cache';
    const question = this.next(QUESTIONS);
    // The same question always has the same text, so the cache may answer it.
    const random = isCached ? numbers(question + 1) : this.next;
    const input = 10 + random(2_000);
    const task: Task = {
      kind: kind === 'cache' || kind === 'unknown key' ? 'plain' : kind,
      number: kind === 'fail' ? this.pick([400, 404, 429, 500]) : 1 + (n % 2),
      input,
      cached: random(input),
      // At least one: zero beside a text is not believed.
      output: 1 + random(500),
    };
    const model = isCached ? 'gpt-4o-mini' : this.pick(['gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o', UNPRICED]);
    const metadata = this.pick([
      null,
      {
        _user: `user-${this.next(30)}`,
        _environment: this.pick(['live', 'test']),
        team: this.pick(['red', 'blue']),
      },
    ]);
    const via = VIA[kind] ?? 'virtual key';
    const asked: Asked = {
      exchange: `${this.run}-${n}`,
      tenant,
      keyId: key.id,
      via,
      model,
      question: isCached ? question : null,
      metadata,
      sentAt: Date.now(),
      id: '',
      status: 0,
      endedAt: 0,
    };
    this.asked.push(asked);
    const body = {
      model,
      messages: [{ role: 'user', content: isCached ? textOf({ ...task, number: question }) : textOf(task) }],
      ...(kind === 'stream' || kind === 'hang'
        ? { stream: true, stream_options: { include_usage: true } }
        : {}),
    };
    const answer = await this.call({ asked, body, key: key.key, isLeft: kind === 'hang' });
    Object.assign(asked, { id: answer.requestId, status: answer.status, endedAt: Date.now() });
  }

  private async call({ asked, body, key, isLeft }: Sending): Promise<Pick<Answer, 'status' | 'requestId'>> {
    const { tenant, via, exchange, metadata } = asked;
    const headers: Record<string, string> = {
      'x-gateway-api-key': key,
      'x-gateway-trace-id': exchange,
      'x-request-id': exchange,
      'x-gateway-retry-count': '3',
      // So that what the metadata says does not make another question of the same one.
      'x-gateway-cache-namespace': 'proof',
      ...(metadata ? { 'x-gateway-metadata': JSON.stringify(metadata) } : {}),
      ...{
        'virtual key': { 'x-gateway-virtual-key': tenant.first },
        fallback: { 'x-gateway-config': tenant.fallback },
        cache: { 'x-gateway-config': tenant.cache },
        nothing: { 'x-gateway-virtual-key': 'there-is-none' },
      }[via],
    };
    const call = { method: 'POST', path: '/v1/chat/completions', headers, body };
    if (!isLeft) return this.service.client.call(call);
    const { status, requestId, stream } = await this.service.client.open(call);
    await new Promise<void>((resolve) => {
      let seen = '';
      stream.on('data', (part: Buffer) => {
        seen += part.toString();
        if (seen.includes('"usage":')) resolve();
      });
      stream.once('close', resolve);
      stream.once('error', () => undefined);
    });
    stream.destroy();
    return { status, requestId };
  }
}

interface Sending {
  readonly asked: Asked;
  readonly body: object;
  readonly key: string;
  readonly isLeft: boolean;
}

/** In the proportions in which they are sent. */
const KINDS = [
  'plain',
  'plain',
  'plain',
  'plain',
  'stream',
  'stream',
  'busy',
  'first-fails',
  'hang',
  'cache',
  'cache',
  'cache',
  'fail',
  'unknown key',
] as const;

const VIA: Readonly<Partial<Record<(typeof KINDS)[number], Asked['via']>>> = {
  'first-fails': 'fallback',
  cache: 'cache',
  'unknown key': 'nothing',
};

/** Milliseconds since the epoch in a UUIDv7: https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7 */
const momentOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** Workspaces share no answers. */
const questionOf = ({ tenant, question }: Asked): string => `${tenant.slug} ${String(question)}`;

/** `stored`: the call whose answer the cache had, if that answered. */
function knownOf(asked: Asked, calls: readonly Booked[], stored: Booked | undefined): Known {
  const { via, tenant } = asked;
  const isHit = via === 'cache' && calls.length === 0;
  const told = (isHit && stored ? [stored] : calls).filter(({ usage }) => usage !== null);
  const sum = (kind: 'input' | 'output'): number =>
    told.reduce((total, { usage }) => total + (usage?.[kind] ?? 0), 0);
  const fallbacks = calls.filter(({ place }, index) => index > 0 && place !== calls[index - 1]?.place).length;
  const bill = billed(told);
  return {
    ...asked,
    at: momentOf(asked.id),
    calls,
    cacheStatus: via !== 'cache' ? '' : isHit ? 'HIT' : 'MISS',
    virtualKey: via === 'nothing' ? '' : calls.at(-1)?.place === 'second' ? tenant.second : tenant.first,
    provider: via === 'nothing' ? '' : 'openai',
    config: via === 'fallback' || via === 'cache' ? tenant[via] : '',
    input: sum('input'),
    output: sum('output'),
    cost: isHit ? 0 : bill,
    saved: isHit ? (bill ?? 0) : 0,
    retries: Math.max(0, calls.length - 1) - fallbacks,
    fallbacks,
  };
}

/** Null where nothing was used, or one of them has no price. */
function billed(told: readonly Booked[]): number | null {
  const bills = told.map((call) => billOf(call, PRICES));
  return bills.length === 0 || bills.includes(null)
    ? null
    : bills.reduce<number>((total, bill) => total + (bill ?? 0), 0);
}

/** What only the gateway can know of it. */
interface Timing {
  readonly durationMs: number;
  readonly errorCode: string;
  readonly ending: string;
}

export function factOf(known: Known, timing: Timing): Fact {
  const { tenant, exchange, calls } = known;
  const isTold = known.cacheStatus === 'HIT' || calls.some(({ usage }) => usage !== null);
  return {
    ...known,
    ...timing,
    trace: exchange,
    span: '',
    workspace: tenant.slug,
    endpoint: 'chat-completions',
    prompt: '',
    source: '',
    input: isTold ? known.input : null,
    output: isTold ? known.output : null,
    feedback: null,
  };
}
