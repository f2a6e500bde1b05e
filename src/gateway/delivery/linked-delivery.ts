import { UNREAD } from '../recording/reading.js';
import { whileListening } from '../types/cancellation.js';
import type { RequestPath } from '../types/request-path.js';
import type { Answer } from '../attempt/answer.js';
import type { Exchange } from '../recording/exchange.js';
import type { Target } from '../types/target.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import { readWholeBody } from '../upstream/whole-answer.js';
import { addressHere } from './address-here.js';
import { deliverRewritten } from './rewritten-response.js';

/** A page of a thousand batches is smaller than one megabyte. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** The field of a response whose links are rewritten to the gateway; null when the response passes unchanged. */
export function linkFieldOf(
  { attempt, target, judged, translated }: Answer,
  { path }: RequestPath,
): string | null {
  const field = target.provider.links?.find(({ paths }) => paths.test(path))?.field;
  if (field === undefined || judged || translated || attempt.status >= 300) return null;
  const { isJson, contentEncoding } = readResponseHead(attempt.rawHeaders);
  return isJson && (contentEncoding === null || contentEncoding === 'identity') ? field : null;
}

/**
 * Carries a response with links to the provider. Clients follow them with the gateway's key, so such a link is rewritten to point to the
 * gateway. Every other byte is the provider's. Rejects when the response breaks off.
 */
export async function deliverLinked(exchange: Exchange, answer: Answer, field: string): Promise<void> {
  const { attempt, target } = answer;
  const { bodies, request, signal } = exchange;
  const onLeft = (): void => attempt.clientLeft();
  const theirs = await whileListening(signal, onLeft, () => readWholeBody(attempt, ANSWER_BYTES_MAX));
  bodies.response.add(theirs);
  const head = readResponseHead(attempt.rawHeaders);
  const { contentType, contentEncoding } = head;
  const here = addressHere(request);
  const body = here === null ? theirs : ledBack(theirs, field, { here, bases: basesOf(target) });
  const ending = signal.isCancelled ? 'client_aborted' : 'completed';
  const recorded = { sent: answer, reading: UNREAD, ending, contentType, contentEncoding } as const;
  deliverRewritten(exchange, { ...recorded, errorCode: null, head, body });
}

/** Addresses of the provider: the one the request went to, and the provider's own, which an intermediate host may report. */
function basesOf({ origin, basePath, provider: { baseUrl } }: Target): readonly string[] {
  const own = baseUrl !== null && !baseUrl.includes('{') ? [`${baseUrl}/`] : [];
  return [`${origin}${basePath}/`, ...own];
}

interface LinkAddresses {
  readonly here: string;
  readonly bases: readonly string[];
}

/** `json` with the field's links below one of the bases rewritten to the gateway's `/v1`. */
export function ledBack(json: Buffer, field: string, { here, bases }: LinkAddresses): Buffer {
  const value = new RegExp(`("${field}"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*")`, 'g');
  // Each byte is a Latin-1 character and stays unchanged.
  const text = json.toString('latin1');
  const changed = text.replace(value, (whole, name: string, written: string) => {
    const link = textIn(written);
    const base = bases.find((each) => link?.startsWith(each));
    return link === null || base === undefined
      ? whole
      : name + JSON.stringify(`${here}/v1/${link.slice(base.length)}`);
  });
  return changed === text ? json : Buffer.from(changed, 'latin1');
}

function textIn(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}
