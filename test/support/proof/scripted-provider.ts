import type { Price } from './prices.js';
import { costOf } from './prices.js';
import { EchoUpstream, header, type Received, type Script } from '../upstreams/echo.js';
import { sleep } from '../waiting.js';

/** What a request asks this provider to do; it stands in the request's own text. */
export interface Task {
  /** `hang`: a stream that tells its usage at once and never ends. `first-fails`: only the first place fails. */
  readonly kind: 'plain' | 'stream' | 'busy' | 'first-fails' | 'fail' | 'hang';
  /** `busy`: so many refusals before the answer. `fail`: the status. */
  readonly number: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface TokensUsed {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** One call as the provider booked it. */
export interface Booked {
  readonly exchange: string;
  /** Which of the provider's addresses was asked. */
  readonly place: string;
  readonly status: number;
  readonly model: string;
  /** What it gave away; null for a refusal. */
  readonly usage: TokensUsed | null;
  readonly startedAt: number;
  endedAt: number;
}

export const textOf = (task: Task): string => JSON.stringify(task);

const JSON_TYPE = [['content-type', 'application/json']] as const;
const SSE = [['content-type', 'text/event-stream']] as const;
const AGAIN_SOON = ['retry-after-ms', '1'] as const;

/**
 * A provider that does what it is told and keeps a book of its own: which call came where, what it answered, and how many
 * tokens that was. The book knows nothing of the gateway.
 */
export class ScriptedProvider {
  readonly book: Booked[] = [];
  private readonly tries = new Map<string, number>();

  private constructor(readonly upstream: EchoUpstream) {
    upstream.otherwise((received) => this.answer(received));
  }

  static async start(ports: readonly number[]): Promise<ScriptedProvider> {
    return new ScriptedProvider(await EchoUpstream.start(ports));
  }

  address(place: string): string {
    return `${this.upstream.url}/${place}`;
  }

  /** The calls of each exchange, in the order in which they came. */
  byExchange(): ReadonlyMap<string, readonly Booked[]> {
    const calls = new Map<string, Booked[]>();
    for (const booked of this.book) {
      const known = calls.get(booked.exchange);
      if (known) known.push(booked);
      else calls.set(booked.exchange, [booked]);
    }
    return calls;
  }

  private answer(received: Received): Script {
    // Its book is the record; what the ledger of the server would keep of 50,000 requests is memory only.
    this.upstream.ledger.length = 0;
    const { model, messages } = JSON.parse(received.body.toString()) as {
      model: string;
      messages: readonly { readonly content: string }[];
    };
    const task = JSON.parse(messages[0]?.content ?? '') as Task;
    const exchange = header(received, 'x-request-id') ?? '';
    const place = received.target.split('/')[1] ?? '';
    const status = this.statusOf(task, exchange, place);
    const booked: Booked = {
      exchange,
      place,
      status,
      model,
      usage: status === 200 ? { input: task.input, cached: task.cached, output: task.output } : null,
      startedAt: Date.now(),
      endedAt: 0,
    };
    this.book.push(booked);
    return status === 200 ? answered(task, booked) : refused(booked);
  }

  private statusOf({ kind, number }: Task, exchange: string, place: string): number {
    const tries = (this.tries.get(exchange) ?? 0) + 1;
    this.tries.set(exchange, tries);
    if (kind === 'fail') return number;
    if (kind === 'busy' && tries <= number) return 503;
    return kind === 'first-fails' && place === 'first' ? 500 : 200;
  }
}

function refused(booked: Booked): Script {
  booked.endedAt = Date.now();
  return {
    status: booked.status,
    headers: [...JSON_TYPE, AGAIN_SOON],
    body: JSON.stringify({ error: { message: 'no' } }),
  };
}

function answered({ kind }: Task, booked: Booked): Script {
  const { model, usage } = booked;
  if (!usage) throw new Error('An answer has usage.');
  const wire = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
  const head = { id: 'c', created: 1, model };
  if (kind !== 'stream' && kind !== 'hang') {
    booked.endedAt = Date.now();
    const message = { role: 'assistant', content: 'well' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return {
      headers: JSON_TYPE,
      body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage: wire }),
    };
  }
  const event = (more: object): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
  const words = event({ choices: [{ index: 0, delta: { content: 'well' }, finish_reason: null }] });
  return {
    headers: SSE,
    body: async (response) => {
      response.write(words);
      response.write(event({ choices: [], usage: wire }));
      if (kind === 'hang') while (!response.destroyed) await sleep(5);
      else response.write('data: [DONE]\n\n');
      booked.endedAt = Date.now();
    },
  };
}

/** What the provider would bill, nano-dollars; null where it has no price. */
export const billOf = ({ model, usage }: Booked, prices: Readonly<Record<string, Price>>): number | null => {
  const price = prices[model];
  return usage && price ? costOf(usage, price) : null;
};
