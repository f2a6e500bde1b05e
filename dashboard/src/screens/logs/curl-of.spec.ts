import { describe, expect, it } from 'vitest';
import type { LogDetail } from '../../api/logs';
import { curlOf } from './curl-of';

const logOf = (request: object): LogDetail =>
  ({
    method: 'POST',
    path: '/v1/chat/completions',
    request: { body_format: 'json', body: null, headers: {}, ...request },
  }) as LogDetail;

describe('the command that repeats a request', () => {
  it('has the body and the headers that choose the target, and no credential', () => {
    const headers = {
      'content-type': 'application/json',
      'x-gateway-provider': 'sandbox',
      'x-gateway-api-key': 'gw_ws_secret',
      'x-gateway-config': '***',
      authorization: '***',
      'content-length': '17',
    };
    expect(curlOf(logOf({ headers, body: { text: "it's" } }), 'https://gw.example')).toBe(
      [
        `curl -X POST 'https://gw.example/v1/chat/completions'`,
        `-H 'x-gateway-api-key: YOUR_API_KEY'`,
        `-H 'content-type: application/json'`,
        `-H 'x-gateway-provider: sandbox'`,
        `-d '{"text":"it'\\''s"}'`,
      ].join(' \\\n  '),
    );
  });

  it.each([[{ body_truncated: true }], [{ body_unavailable: true }], [{ body_format: 'base64' }]])(
    'is absent where the body is not there whole: %j',
    (request) => expect(curlOf(logOf(request), 'https://gw.example')).toBeNull(),
  );
});
