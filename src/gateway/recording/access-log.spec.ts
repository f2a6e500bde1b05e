import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { rememberClientCertificate } from '../../common/http/client-certificate.js';
import type { ClientRequest } from '../../common/http/messages.js';
import type { RequestLogRecord } from '../../request-log/record.js';
import { AccessLog } from './access-log.js';

const caller = { name: 'Checkout service' } as Principal;
const record = {
  id: '0199',
  workspace_id: 'w',
  method: 'POST',
  path: '/v1/chat/completions?key=***',
  endpoint: 'chat-completions',
  provider: 'openai',
  virtual_key: 'openai-prod',
  model: 'gpt-5',
  status: 200,
  ending: 'completed',
  error_code: null,
  error_source: null,
  attempts: [{}],
  cache_status: null,
  duration_ms: 1234.5,
  first_token_ms: 200.4,
  usage: { input_tokens: 10, output_tokens: 20 },
  cost_nano_usd: 9_000,
} as unknown as RequestLogRecord;

const request = { socket: new Socket() } as ClientRequest;

function linesOf(
  accessLog: 'errors' | 'all',
  changes: Partial<RequestLogRecord>,
  error: AppError | null = null,
): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = new AccessLog({ accessLog, slowRequestMs: 60_000 }, { write: (line) => void lines.push(line) });
  log.add({ record: { ...record, ...changes }, request, caller, error });
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the access log', () => {
  it('has one line with who, what, where, how long and how much for a request', () => {
    expect(linesOf('all', {})).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        pid: process.pid,
        component: 'access',
        request_id: '0199',
        key_name: 'Checkout service',
        workspace_id: 'w',
        method: 'POST',
        path: '/v1/chat/completions',
        endpoint: 'chat-completions',
        provider: 'openai',
        virtual_key: 'openai-prod',
        model: 'gpt-5',
        status: 200,
        ending: 'completed',
        attempts: 1,
        duration_ms: 1235,
        first_token_ms: 200,
        input_tokens: 10,
        output_tokens: 20,
        cost_usd: 0.000009,
        msg: 'A request ended.',
      },
    ]);
  });

  it('names the client certificate of the connection', () => {
    rememberClientCertificate(request.socket, 'CN=checkout,O=Example');

    expect(linesOf('all', {})).toEqual([
      expect.objectContaining({ client_certificate: 'CN=checkout,O=Example' }),
    ]);
  });

  it('says of a failure whose it was, what the client got, and the cause', () => {
    const error = new AppError(
      'upstream_error',
      { detail: 'connection refused' },
      { cause: { code: 'ECONNREFUSED' } },
    );
    const failed = { status: 502, error_code: 'upstream_error', error_source: 'gateway' } as const;

    expect(linesOf('errors', failed, error)).toEqual([
      expect.objectContaining({
        ...failed,
        error: error.message,
        cause: 'ECONNREFUSED',
        msg: 'A request failed.',
      }),
    ]);
  });

  it.each([
    ['a success', {}, 0],
    ['a slow success', { duration_ms: 60_000 }, 1],
    ['a refusal', { status: 429, error_code: 'rate_limited' }, 1],
    ['a refusal of the provider', { status: 400, error_source: 'provider' as const }, 1],
    ['a stream that broke', { error_code: 'upstream_error' }, 1],
  ])('with "errors" counts %s', (_, changes, lines) => {
    expect(linesOf('errors', changes)).toHaveLength(lines);
  });

  it('keeps a line below the size of one write, whatever the client sends', () => {
    const long = 'x'.repeat(10_000);
    const [line] = linesOf('all', {
      model: long,
      path: `/v1/${long}`,
      status: 400,
      error_code: 'invalid_request',
    });

    expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(4_096);
  });
});
