import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpClient, jsonOf } from '../support/http-client.js';

/** What requests are sent to: a machine, or a load balancer before several. */
export interface Receiver {
  readonly name: string;
  readonly isUp: boolean;
  readonly service: { readonly client: HttpClient };
}

/** A key and what it may do. Its name begins the exchange ids of its requests. */
export interface Group {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

/** One request as its client saw it. */
export interface ClientView {
  readonly exchange: string;
  readonly group: string;
  readonly machine: string;
  /** `x-gateway-request-id`; empty where no answer came. */
  readonly id: string;
  /** 0 where no whole answer came. */
  readonly status: number;
  readonly code: string | null;
  readonly sentAt: number;
  readonly ms: number;
  /** Whether its machine was killed while it was in progress. */
  readonly wasKilled: boolean;
}

/** Beyond this, a request counts as never answered. */
const PATIENCE_MS = 20_000;
export const OUTPUT_TOKENS = 20;

/** Clients that send at a steady pace to whichever machine is up, as behind a load balancer. */
export class Traffic {
  readonly views: ClientView[] = [];
  private next = 0;

  constructor(
    private readonly machines: readonly Receiver[],
    private readonly virtualKey: string,
  ) {}

  /** Sends until `isOver`, a request every `everyMs` for each group, without waiting for answers. */
  async run(groups: readonly Group[], everyMs: number, isOver: () => boolean): Promise<void> {
    const sent: Promise<unknown>[] = [];
    while (!isOver()) {
      for (const group of groups) sent.push(this.send(group));
      await sleep(everyMs);
    }
    await Promise.all(sent);
  }

  async send(group: Group): Promise<ClientView> {
    const number = this.next++;
    const up = this.machines.filter(({ isUp }) => isUp);
    const machine = up[number % up.length] as Receiver;
    const service = machine.service;
    const exchange = `${group.name}/${number}`;
    const sentAt = Date.now();
    const { status, id, code } = await service.client
      .call({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {
          'x-gateway-api-key': group.key,
          'x-gateway-virtual-key': this.virtualKey,
          'x-gateway-trace-id': exchange,
        },
        body: bodyOf(exchange, number % 4 === 0),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      .then(
        (answer) => ({ status: answer.status, id: answer.requestId, code: codeOf(answer) }),
        (error: unknown) => ({
          status: 0,
          id: '',
          code: String((error as NodeJS.ErrnoException).code ?? error),
        }),
      );
    const wasKilled = !machine.isUp || machine.service !== service;
    const ms = Date.now() - sentAt;
    const { name } = group;
    const view = { exchange, group: name, machine: machine.name, id, status, code, sentAt, ms, wasKilled };
    this.views.push(view);
    return view;
  }
}

const bodyOf = (exchange: string, stream: boolean): object => ({
  model: 'gpt-4o-mini',
  max_tokens: OUTPUT_TOKENS,
  messages: [{ role: 'user', content: 'Hello' }],
  user: exchange,
  ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
});

function codeOf(answer: { readonly status: number; readonly body: Buffer }): string | null {
  if (answer.status < 400) return null;
  try {
    return (jsonOf(answer) as { error?: { code?: string } }).error?.code ?? null;
  } catch {
    return null;
  }
}
