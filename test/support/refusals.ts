import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/common/errors/catalog.js';
import { processorMs } from './process-tree.js';
import type { Service } from './service.js';

/** What no refusal may tell: stacks, queries, files, inner addresses, names of libraries. */
const INNER_LIFE =
  /\n\s+at |node_modules|\.[jt]s:\d|\/src\/|\/dist\/|\bSELECT\b|\bINSERT\b|\bundici\b|\bfastify\b|\bnest(js)?\b|typeorm|postgres|ECONN|ENOTFOUND|127\.0\.0\.1:\d/i;

interface GoogleError {
  readonly details: readonly {
    readonly metadata?: { readonly code?: string; readonly request_id?: string };
  }[];
}

/** The code of an error of the gateway, whatever the format of the client: Google's has it among the details. */
export function errorCodeIn(body: unknown): string | undefined {
  const { error } = body as { error?: { code: string } | GoogleError };
  if (!error) return undefined;
  return 'details' in error ? error.details.find(({ metadata }) => metadata)?.metadata?.code : error.code;
}

/** The address of a URL as refusals name it. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/**
 * The body is a refusal of the gateway in the one shape that all of them have, and tells nothing of the inside. It may name the address of
 * `sent`, the URL that the caller sent.
 */
export function expectRefusal(body: Buffer, code: ErrorCode, sent?: string): void {
  const whole = body.toString('utf8');
  const text = sent === undefined ? whole : whole.replace(`call ${addressOf(sent)}.`, 'call it.');
  const { error } = JSON.parse(text) as { error: Record<string, unknown> };
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'request_id', 'type']);
  expect(error['code']).toBe(code);
  expect(error['type']).toBe(ERRORS[code].type);
  expect(error['request_id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(error['message']).toBeTypeOf('string');
  expect(text).not.toMatch(INNER_LIFE);
}

/** Watches that no process of the service died and was replaced, that it stays ready, and that none is busy with what it was sent. */
export class Vitals {
  private readonly gateways: readonly number[];

  constructor(private readonly service: Service) {
    this.gateways = [...service.pids.gateways].sort((a, b) => a - b);
  }

  async check(): Promise<void> {
    const before = this.gateways.map(processorMs);
    expect(await this.service.ready(), '/readyz').toBe(true);
    const work = this.gateways.map((pid, index) => processorMs(pid) - (before[index] ?? 0));
    expect(Math.max(...work), 'ms of work before /readyz was answered').toBeLessThan(1_000);
    expect(
      [...this.service.pids.gateways].sort((a, b) => a - b),
      'gateway processes',
    ).toEqual(this.gateways);
  }
}
