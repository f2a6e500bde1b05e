import { AppError } from '../common/errors/app-error.js';

/**
 * The message when a connection fails. Codes: `errno`, OpenSSL's as Node names them
 * (https://nodejs.org/docs/latest-v20.x/api/tls.html#x509-certificate-error-codes), undici's
 * (https://github.com/nodejs/undici/blob/v7.x/docs/docs/api/Errors.md), and those of `Http1Error`. Never an address, a port or a path.
 */
const DETAILS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'host not reachable',
  EADDRNOTAVAIL: 'host not reachable',
  ETIMEDOUT: 'host not reachable',
  ENOTFOUND: 'name not found',
  ENODATA: 'name not found',
  EAI_AGAIN: 'name lookup failed',
  EAI_FAIL: 'name lookup failed',
  EMFILE: 'no free sockets',
  ENFILE: 'no free sockets',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS certificate not valid',
  EPROTO: 'TLS handshake failed',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_INFO: 'connection closed',
  UND_ERR_CLOSED: 'connection closed',
  UND_ERR_DESTROYED: 'connection closed',
  HTTP1_CONNECTION_CLOSED: 'connection closed',
};

const PROTOCOL_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  // undici asserts that a final status is at least 100; a response with status 099 ends here.
  'ERR_ASSERTION',
  'HTTP1_RESPONSE_INVALID',
]);

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|CRL|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH/;
const BROKEN_ANSWER = /^bad (response|upgrade)$/;

/** The error for a failure of the socket or of the response's framing, with the failure as its cause. */
export function upstreamFailure(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const { code, name, message } = describe(thrown);
  if (PROTOCOL_CODES.has(code) || name === 'HTTPParserError' || BROKEN_ANSWER.test(message))
    return new AppError('upstream_protocol_error', {}, { cause: thrown });
  return new AppError('upstream_error', { detail: detailOf(code) }, { cause: thrown });
}

function detailOf(code: string): string {
  const known = DETAILS[code];
  if (known) return known;
  if (code.startsWith('ERR_SSL_')) return 'TLS handshake failed';
  return CERTIFICATE.test(code) ? 'TLS certificate not valid' : 'connection failed';
}

function describe(thrown: unknown): { code: string; name: string; message: string } {
  if (!(thrown instanceof Error)) return { code: '', name: '', message: '' };
  const { name, message, code } = thrown as Error & { code?: unknown };
  return { code: typeof code === 'string' ? code : '', name, message };
}
