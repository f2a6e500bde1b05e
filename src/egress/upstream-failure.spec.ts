import { describe, expect, it } from 'vitest';
import { AppError } from '../common/errors/app-error.js';
import { upstreamFailure } from './upstream-failure.js';

const coded = (code: string) => Object.assign(new Error('connect 10.1.2.3:8000 /secret'), { code });

describe('upstreamFailure', () => {
  it.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ENETUNREACH', 'host not reachable'],
    ['ENOTFOUND', 'name not found'],
    ['EAI_AGAIN', 'name lookup failed'],
    ['CERT_HAS_EXPIRED', 'TLS certificate not valid'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS certificate not valid'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS certificate not valid'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS certificate not valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS certificate not valid'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS handshake failed'],
    ['UND_ERR_SOCKET', 'connection closed'],
    ['HTTP1_CONNECTION_CLOSED', 'connection closed'],
    ['SOMETHING_NEW', 'connection failed'],
  ])('reports %s as "%s", without the address', (code, detail) => {
    const { code: told, message } = upstreamFailure(coded(code));

    expect({ told, message }).toEqual({
      told: 'upstream_error',
      message: `The request to the provider failed: ${detail}.`,
    });
  });

  it.each([
    'UND_ERR_HEADERS_OVERFLOW',
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    'ERR_ASSERTION',
    'HTTP1_RESPONSE_INVALID',
  ])('reports %s as a broken response', (code) =>
    expect(upstreamFailure(coded(code)).code).toBe('upstream_protocol_error'),
  );

  it('leaves refusals as they are and keeps what else was thrown as the cause', () => {
    const refusal = new AppError('custom_host_blocked');

    expect(upstreamFailure(refusal)).toBe(refusal);
    expect(upstreamFailure('odd')).toMatchObject({ code: 'upstream_error', cause: 'odd' });
  });
});
