import type { Dispatcher } from 'undici';
import type { Egress } from '../../egress/egress.js';
import { upstreamFailure } from '../../egress/upstream-failure.js';
import { AppError } from '../../common/errors/app-error.js';

/** A form to post to a token service. */
export interface TokenCall {
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** These services belong to the clouds, so all tenants may share their connections. */
const TENANT = 'token-services';
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

export const FORM = 'application/x-www-form-urlencoded';

/** The error for callers. It never contains the credential or its issuer's message. */
export const unusable = (cause?: unknown): AppError => new AppError('credential_unusable', {}, { cause });

const unreachable = (detail: string, cause?: unknown): AppError =>
  new AppError('upstream_error', { detail: `the token service ${detail}` }, { cause });

/**
 * The body of a successful response. A refusal is `credential_unusable`; any other failure is `upstream_error`. Bodies of refusals are not
 * kept: some repeat the request.
 */
export async function callTokenService(egress: Egress, call: TokenCall): Promise<string> {
  const { statusCode, body } = await answerOf(egress, call);
  const text = await textOf(body);
  if (statusCode === 200) return text;
  if (statusCode === 429 || statusCode >= 500 || statusCode < 400)
    throw unreachable(`returned status ${statusCode}`);
  throw unusable(new Error(`The token service returned status ${statusCode}.`));
}

/** A token that is valid in a header; otherwise throws `upstream_error`. */
export function checkedToken(value: unknown): string {
  if (typeof value === 'string' && /^[!-~]+$/.test(value)) return value;
  throw unreachable('gave none');
}

/** The response of an OAuth token endpoint, https://www.rfc-editor.org/rfc/rfc6749#section-5.1; `expires_in` in seconds. */
export function oauthToken(text: string): { readonly token: string; readonly expiresIn: number } {
  const { access_token: token, expires_in: seconds } = parsed(text);
  const expiresIn = Number(seconds);
  return { token: checkedToken(token), expiresIn: expiresIn > 0 ? Math.min(expiresIn, 86_400) : 0 };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    throw unreachable('sent no JSON');
  }
}

async function answerOf(
  egress: Egress,
  { origin, path, headers, body }: TokenCall,
): Promise<Dispatcher.ResponseData> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await egress
      .pool(TENANT, origin)
      .request({ method: 'POST', path, headers: [...headers], body, signal });
  } catch (error) {
    throw failureOf(error);
  }
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw failureOf(error);
  }
  if (bytes > ANSWER_BYTES_MAX) throw unreachable('sent too long an answer');
  return Buffer.concat(chunks).toString('utf8');
}

function failureOf(error: unknown): AppError {
  if (error instanceof Error && error.name === 'TimeoutError') return unreachable('did not respond in time');
  const { code, details } = upstreamFailure(error);
  return unreachable(
    code === 'upstream_error' ? `failed: ${details.detail ?? ''}` : 'could not be called',
    error,
  );
}
