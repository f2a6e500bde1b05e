import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenOnOneOf, stopListening } from '../support/upstreams/listen.js';
import { sleep } from '../support/waiting.js';

/** What one token of gpt-4o-mini costs, nano-dollars, as published: a second computation of what the service charges. */
const INPUT_NANO = 150;
const OUTPUT_NANO = 600;
const LATENCY_MS = 40;

/** One exchange as the provider saw it. */
export interface ProviderCall {
  /** How often it was asked; more than once is a doubled request. */
  times: number;
  /** What it charges for all of them, nano-dollars. */
  cost: number;
}

/** A provider that remembers every request, and how many of one group were in progress at once. */
export class RememberingProvider {
  /** By the exchange id that the client wrote into `user`: `<group>/<number>`. */
  readonly calls = new Map<string, ProviderCall>();
  /** The most of a group that were in progress at once. */
  readonly mostAtOnce = new Map<string, number>();
  url = '';
  private readonly inProgress = new Map<string, number>();
  private readonly server: Server;

  private constructor(private readonly streamMs: number) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  /** `streamMs`: how long each stream takes, in milliseconds. */
  static async start(ports: readonly number[], streamMs = 0): Promise<RememberingProvider> {
    const provider = new RememberingProvider(streamMs);
    provider.url = `http://127.0.0.1:${await listenOnOneOf(provider.server, ports)}`;
    return provider;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return stopListening(this.server);
  }

  /** What all requests of a group cost, nano-dollars. */
  billOf(group: string): number {
    let bill = 0;
    for (const [exchange, { cost }] of this.calls) if (groupOf(exchange) === group) bill += cost;
    return bill;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const asked = JSON.parse(body.toString()) as { user: string; max_tokens: number; stream?: boolean };
    const { user: exchange, max_tokens: output } = asked;
    const call = this.calls.get(exchange) ?? { times: 0, cost: 0 };
    call.times += 1;
    call.cost += body.length * INPUT_NANO + output * OUTPUT_NANO;
    this.calls.set(exchange, call);
    const group = groupOf(exchange);
    this.count(group, 1);
    await sleep(LATENCY_MS);
    this.count(group, -1);
    const usage = {
      prompt_tokens: body.length,
      completion_tokens: output,
      total_tokens: body.length + output,
    };
    if (asked.stream) return stream(response, usage, this.streamMs);
    const message = { role: 'assistant', content: 'Yes.' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'gpt-4o-mini', choices: [{ index: 0, message }], usage }));
  }

  private count(group: string, step: number): void {
    const count = (this.inProgress.get(group) ?? 0) + step;
    this.inProgress.set(group, count);
    this.mostAtOnce.set(group, Math.max(count, this.mostAtOnce.get(group) ?? 0));
  }
}

const groupOf = (exchange: string): string => exchange.slice(0, exchange.indexOf('/'));

async function stream(response: ServerResponse, usage: object, takesMs: number): Promise<void> {
  const event = (data: object): string => `data: ${JSON.stringify({ model: 'gpt-4o-mini', ...data })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event({ choices: [{ index: 0, delta: { content: 'Yes.' } }] }));
  if (takesMs > 0) await sleep(takesMs);
  response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
}
