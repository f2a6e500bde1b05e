import { upstreamFailure } from '../egress/upstream-failure.js';

const IN_TIME: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);
const OWN_WORDS = /^(it|the receiver) /;

/** Why a delivery failed, for its owner: never an address, and of the response only its status. */
export function deliveryFailure(error: unknown): string {
  if (error instanceof Error && IN_TIME.has(error.name)) return 'it did not respond in time';
  if (error instanceof Error && OWN_WORDS.test(error.message)) return error.message;
  const status = statusIn(error);
  return status === undefined ? failureOf(error) : `it returned status ${status}`;
}

function failureOf(error: unknown): string {
  const { code, details, message } = upstreamFailure(error);
  if (code === 'upstream_protocol_error') return 'it sent a response that is not valid HTTP';
  return code === 'upstream_error' ? `it could not be reached: ${details.detail ?? ''}` : message;
}

/** Where Amazon's client reports it. */
function statusIn(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}
