import { AppError } from '../../common/errors/app-error.js';
import type { HttpAnswer, HttpCall, HttpCaller } from '../../egress/http-caller.js';
import { upstreamFailure } from '../../egress/upstream-failure.js';
import { type SecretLocation, unavailableSecret, unusableSecret } from './secret-location.js';

const TIMEOUT_MS = 5_000;
const TOO_MANY = 429;

/** A call to a secret manager. */
export type ManagerCall = Omit<HttpCall, 'timeoutMs'>;

/**
 * The response of a secret manager, whose status may be a refusal. Rejects with `secret_unavailable` without a response, or with one of the
 * server's own failure. An address that the egress rules block is `secret_unusable`.
 */
export async function callManager(
  http: Pick<HttpCaller, 'call'>,
  location: SecretLocation,
  call: ManagerCall,
): Promise<HttpAnswer> {
  const answer = await sent(http, location, call);
  if (answer.status >= 500 || answer.status === TOO_MANY)
    throw unavailableSecret(location, `the secret manager returned status ${answer.status}`);
  return answer;
}

async function sent(
  http: Pick<HttpCaller, 'call'>,
  location: SecretLocation,
  call: ManagerCall,
): Promise<HttpAnswer> {
  try {
    return await http.call(location.organizationId, { ...call, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    const { code } = error instanceof AppError ? error : upstreamFailure(error);
    if (code === 'custom_host_blocked' || code === 'custom_host_invalid')
      throw unusableSecret(location, 'the address of the secret manager is not allowed');
    throw unavailableSecret(location, 'the secret manager did not respond', error);
  }
}

/** The members of a JSON object. A body of another form is `secret_unusable`. */
export function objectIn(location: SecretLocation, text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw unusableSecret(location, 'the secret manager returned no JSON object');
}

/** The parser's own error would quote the text, so it is dropped. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The error of a refusal. The body is dropped: some managers repeat the request in it. */
export function refusedBy(location: SecretLocation, { status }: HttpAnswer): AppError {
  const why =
    status === 404 ? 'has no such secret' : status === 401 || status === 403 ? 'denies access' : 'refused';
  return unusableSecret(location, `the secret manager ${why} (status ${status})`);
}
