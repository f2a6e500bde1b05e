import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { EchoUpstream, header, type Received, type Script } from '../../upstreams/echo.js';
import { sleep } from '../../waiting.js';
import { numbers } from '../known-requests.js';
import { type Place, PLACES, type Told, type Wire } from './wires.js';

/** One call as the provider booked it. */
export interface OddCall {
  readonly exchange: string;
  readonly place: Place;
  readonly kind: string;
  /** Null where it never said it. */
  told: Told | null;
}

type Random = (below: number) => number;

/** The same numbers for the same text. */
export const drawn = (text: string): Random =>
  numbers(createHash('sha256').update(text).digest().readUInt32BE(0));

export const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;

/** How often in a hundred calls what happens. A number is a refusal with this status. */
const KINDS: Readonly<Record<string, number>> = {
  good: 45,
  '400': 3,
  '404': 2,
  '429': 6,
  '500': 6,
  '503': 6,
  '529': 2,
  'late head': 5,
  'late body': 4,
  reset: 4,
  cut: 4,
  empty: 3,
  nonsense: 3,
  'an error behind a 200': 6,
  'an error behind words': 3,
  'no last word': 2,
};

function kindOf(random: Random): string {
  let at = random(Object.values(KINDS).reduce((sum, weight) => sum + weight, 0));
  for (const [kind, weight] of Object.entries(KINDS)) if ((at -= weight) < 0) return kind;
  return 'good';
}

const JSON_TYPE = ['content-type', 'application/json'] as const;
const LATE_MS = 120;

interface Performance {
  readonly call: OddCall;
  readonly wire: Wire;
  readonly model: string;
  readonly told: Told;
}

/** A provider of several dialects that does all that providers do, drawn for each call, and keeps a book of what it gave away. */
export class OddProvider {
  readonly book: OddCall[] = [];
  private readonly tries = new Map<string, number>();

  private constructor(
    readonly upstream: EchoUpstream,
    private readonly seed: number,
  ) {
    upstream.otherwise((received) => this.answer(received));
  }

  static async start(ports: readonly number[], seed: number): Promise<OddProvider> {
    return new OddProvider(await EchoUpstream.start(ports), seed);
  }

  private answer(received: Received): Script {
    this.upstream.ledger.length = 0;
    const exchange = header(received, 'x-request-id') ?? '';
    const path = received.target.split('?', 1)[0] ?? '';
    const place = path.split('/')[1] as Place;
    const { model, stream } = JSON.parse(received.body.toString()) as { model?: string; stream?: boolean };
    const nth = (this.tries.get(exchange + place) ?? 0) + 1;
    this.tries.set(exchange + place, nth);
    const random = drawn(`${this.seed}:${exchange}:${place}:${nth}`);
    const [, wire] = Object.entries<Wire>(PLACES[place].wires).find(([end]) => path.endsWith(end)) ?? [];
    const call: OddCall = { exchange, place, kind: wire ? kindOf(random) : '404', told: null };
    this.book.push(call);
    if (!wire || /^\d+$/.test(call.kind)) return refusal(Number(call.kind), wire);
    const told = { input: 10 + random(1_000), output: 1 + random(300) };
    const performance = { call, wire, model: model ?? PLACES[place].model, told };
    return stream === true || path.endsWith(':streamGenerateContent')
      ? streamed(performance)
      : plain(performance);
  }
}

function refusal(status: number, wire: Wire | undefined): Script {
  const body = wire?.refusal(`no: ${status}`) ?? { error: { message: 'There is no such path.' } };
  return { status, headers: [JSON_TYPE, ['retry-after-ms', '1']], body: JSON.stringify(body) };
}

/** What is the same for plain answers and streams. True when there is no more to say. */
async function begins(kind: string, response: ServerResponse): Promise<boolean> {
  if (kind === 'late head') await sleep(LATE_MS);
  if (kind === 'reset') response.destroy();
  return kind === 'reset' || kind === 'empty';
}

async function breaks(kind: string, response: ServerResponse): Promise<boolean> {
  if (kind === 'late body') await sleep(LATE_MS);
  if (kind !== 'cut') return false;
  await sleep(5);
  response.destroy();
  return true;
}

function plain({ call, wire, model, told }: Performance): Script {
  const whole = JSON.stringify(wire.whole(model, told));
  const body = async (response: ServerResponse): Promise<void> => {
    const { kind } = call;
    if (await begins(kind, response)) return;
    if (kind === 'nonsense') return void response.write('<html>no</html>');
    if (kind.startsWith('an error')) return void response.write(JSON.stringify(wire.refusal('overloaded')));
    response.write(whole.slice(0, 30));
    if (await breaks(kind, response)) return;
    response.write(whole.slice(30));
    call.told = told;
  };
  return { headers: [JSON_TYPE], body };
}

function streamed({ call, wire, model, told }: Performance): Script {
  const body = async (response: ServerResponse): Promise<void> => {
    const { kind } = call;
    if (await begins(kind, response)) return;
    if (kind === 'nonsense') return void response.write('data: what\n\n');
    if (kind === 'an error behind a 200') return void response.write(wire.error);
    response.write(wire.begin(model, told) + wire.words('well'));
    if (await breaks(kind, response)) return;
    if (kind === 'an error behind words') return void response.write(wire.error);
    response.write(wire.words(' then') + wire.told(model, told));
    call.told = told;
    if (kind !== 'no last word') response.write(wire.end);
  };
  return { headers: [['content-type', 'text/event-stream']], body };
}
