import { lower } from '../../common/http/raw-headers.js';
import { setsSessionCookie } from '../../common/http/session-cookie-names.js';
import { ORIGIN_HEADERS } from './origin-headers.js';

/**
 * Fields that are not forwarded: those of the provider's connection to us, and those that would act on the whole origin. Everything else is
 * forwarded as written, except the dashboard's own cookie.
 */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...ORIGIN_HEADERS,
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The parts of a response's head that the gateway reads. */
export interface ResponseHead {
  /** Names and values in turn, without the fields that are not forwarded. */
  readonly headers: string[];
  readonly contentType: string | null;
  /** By its media type, which is case-insensitive: https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1 */
  readonly isJson: boolean;
  readonly isEventStream: boolean;
  readonly isSound: boolean;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  readonly hasDate: boolean;
}

const READ = new Map<string, 'contentType' | 'contentEncoding' | 'contentLength' | 'date' | 'connection'>([
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['date', 'date'],
  ['connection', 'connection'],
]);

export function readResponseHead(rawHeaders: readonly string[]): ResponseHead {
  const headers: string[] = [];
  const found: Partial<
    Record<'contentType' | 'contentEncoding' | 'contentLength' | 'date' | 'connection', string>
  > = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = lower(rawHeaders[index] as string);
    const value = rawHeaders[index + 1] as string;
    const read = READ.get(name);
    if (read) found[read] = value;
    if (passes(name, value)) headers.push(rawHeaders[index] as string, value);
  }
  const mediaType = mediaTypeOf(found.contentType ?? '');
  return {
    headers: withoutNamed(headers, found.connection),
    contentType: found.contentType ?? null,
    isJson: mediaType === 'application/json',
    isEventStream: mediaType === 'text/event-stream',
    isSound: mediaType.startsWith('audio/'),
    contentEncoding: found.contentEncoding?.trim().toLowerCase() ?? null,
    contentLength: found.contentLength === undefined ? null : Number(found.contentLength),
    hasDate: found.date !== undefined,
  };
}

function passes(name: string, value: string): boolean {
  return !NOT_PASSED.has(name) && !(name === 'set-cookie' && setsSessionCookie(value));
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  return lower((end < 0 ? contentType : contentType.slice(0, end)).trim());
}

/** Drops the headers named by the provider's `Connection` header. */
function withoutNamed(headers: string[], connection: string | undefined): string[] {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return headers;
  const named = new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((token) => token.trim()),
  );
  return headers.filter((_, index) => !named.has(lower(headers[index - (index % 2)] as string)));
}
