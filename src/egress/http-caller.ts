import { Injectable } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import { Egress } from './egress.js';

/** A request to a service named by a tenant. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'HEAD';
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Calls services through the egress, which checks addresses. Redirects are not followed. */
@Injectable()
export class HttpCaller {
  constructor(private readonly egress: Egress) {}

  /** Whether the name of a host has an address. */
  hasAddress(host: string): Promise<boolean> {
    return this.egress.hasAddress(host);
  }

  /** `tenant` separates the connections of different tenants. Rejects without a complete response in time. */
  async call(tenant: string, { method, url, headers, body, timeoutMs }: HttpCall): Promise<HttpAnswer> {
    const { origin, pathname, search } = new URL(url);
    const answer = await this.egress.pool(tenant, origin).request({
      method,
      path: pathname + search,
      headers: [...headers],
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.statusCode, text: await textOf(answer.body) };
  }
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('The response is too long.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
