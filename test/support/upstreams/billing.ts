import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenOnOneOf } from './listen.js';

/** How a request wants to be answered, in its field `user`. */
export type Behaviour = 'plain' | 'stream' | 'fail' | 'silent';

/** What one token costs for gpt-4o-mini, nano-dollars. */
const INPUT_NANO = 150;
const OUTPUT_NANO = 600;

/**
 * A provider with an account book of its own: input is one token per byte of the body, output is what the request allows.
 * A failure costs nothing. `silent` tells its usage with the first words, bills it, and never ends by itself.
 */
export class BillingUpstream {
  bill = 0n;
  /** When requests came that it answered or will answer, milliseconds since the epoch. */
  readonly arrivals: number[] = [];
  private readonly server: Server;
  url = '';

  private constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async start(ports: readonly number[]): Promise<BillingUpstream> {
    const upstream = new BillingUpstream();
    const port = await listenOnOneOf(upstream.server, ports);
    upstream.url = `http://127.0.0.1:${port}`;
    return upstream;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(() => done()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const { user, max_tokens: output } = JSON.parse(bytes.toString()) as {
      user: Behaviour;
      max_tokens: number;
    };
    this.arrivals.push(Date.now());
    if (user === 'fail') {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
      return;
    }
    this.bill += BigInt(bytes.length * INPUT_NANO + output * OUTPUT_NANO);
    const usage = {
      prompt_tokens: bytes.length,
      completion_tokens: output,
      total_tokens: bytes.length + output,
    };
    if (user === 'plain') {
      const message = { role: 'assistant', content: 'Yes.' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ model: 'gpt-4o-mini', choices: [{ index: 0, message }], usage }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (data: object): string => `data: ${JSON.stringify({ model: 'gpt-4o-mini', ...data })}\n\n`;
    response.write(event({ choices: [{ index: 0, delta: { content: 'Yes.' } }], usage }));
    if (user === 'stream') response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
  }
}

/** What a request of that body costs there, nano-dollars. */
export const priceOf = (body: string, output: number): number =>
  Buffer.byteLength(body) * INPUT_NANO + output * OUTPUT_NANO;
