import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { sleep } from '../waiting.js';
import { listenOnOneOf } from './listen.js';

/** What one token costs for gpt-4o-mini, nano-dollars. */
const INPUT_NANO = 150;
export const OUTPUT_NANO = 600;

/** Tokens that leave at once before a stream is held. */
export const BURST = 3;

/** The provider's own record of one request. */
export interface Generation {
  readonly id: string;
  readonly input: number;
  /** Tokens of the output that it has produced, and billed. */
  produced: number;
  /** Of them, those before its reader was gone; null where it was there to the end. */
  beforeCut: number | null;
}

export const costOf = (input: number, output: number): number => input * INPUT_NANO + output * OUTPUT_NANO;

/**
 * A provider that bills what it generates, whoever still reads it: one token every `tokenMs`, to the end that `max_tokens` allows. Each
 * event reports the usage so far, as vLLM does with `continuous_usage_stats`
 * (https://docs.vllm.ai/en/latest/serving/openai_compatible_server/). Input is one token per byte of the body. It knows a request by its field `user`.
 */
export class GeneratingUpstream {
  readonly generations = new Map<string, Generation>();
  private readonly server: Server;
  private running = 0;
  url = '';

  private constructor(private readonly tokenMs: number) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async start(ports: readonly number[], tokenMs: number): Promise<GeneratingUpstream> {
    const upstream = new GeneratingUpstream(tokenMs);
    const port = await listenOnOneOf(upstream.server, ports);
    upstream.url = `http://127.0.0.1:${port}`;
    return upstream;
  }

  get isIdle(): boolean {
    return this.running === 0;
  }

  /** Nano-dollars. */
  get bill(): number {
    let sum = 0;
    for (const { input, produced } of this.generations.values()) sum += costOf(input, produced);
    return sum;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(() => done()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.running += 1;
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
      await this.generate(Buffer.concat(parts), response);
    } catch {
      // Whoever sent it was killed before it was whole: nothing was generated.
    } finally {
      this.running -= 1;
    }
  }

  private async generate(body: Buffer, response: ServerResponse): Promise<void> {
    const { user, max_tokens } = JSON.parse(body.toString()) as { user: string; max_tokens: number };
    const generation: Generation = { id: user, input: body.length, produced: 0, beforeCut: null };
    this.generations.set(user, generation);
    const gone = once(response, 'close');
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const held = heldAfter(user);
    while (generation.produced < max_tokens) {
      if (generation.produced < held - BURST || held === 0) await sleep(this.tokenMs);
      if (generation.produced === held && held > 0) {
        await gone;
        generation.beforeCut = held;
      }
      this.produce(generation, response);
    }
    if (!response.destroyed) response.end('data: [DONE]\n\n');
  }

  private produce(generation: Generation, response: ServerResponse): void {
    const { input } = generation;
    const completion_tokens = (generation.produced += 1);
    const usage = { prompt_tokens: input, completion_tokens, total_tokens: input + completion_tokens };
    const choices = [{ index: 0, delta: { content: 'well ' } }];
    if (!response.destroyed)
      response.write(`data: ${JSON.stringify({ model: 'gpt-4o-mini', choices, usage })}\n\n`);
  }
}

/** `…-h12`: after twelve tokens, of which the last leave at once, it waits until its reader is gone. Zero: never. */
const heldAfter = (user: string): number => Number(/-h(\d+)$/.exec(user)?.[1] ?? 0);
