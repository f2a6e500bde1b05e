import { codingsOf, decoded } from '../../common/http/content-coding.js';
import type { BodyRow } from './request-parts.js';

/** A body in readable form. */
export interface ReadableBody {
  /** The JSON value, the text, or the bytes in base64; null when none was kept or it cannot be decoded. */
  readonly body: unknown;
  readonly body_format: 'json' | 'text' | 'base64' | null;
  /** Size of the whole transferred body, in bytes. */
  readonly body_bytes: number;
  /** Only the beginning and the end were kept. */
  readonly body_truncated: boolean;
  /** It was kept, but cannot be decoded, or read from the bucket or ClickHouse. */
  readonly body_unavailable: boolean;
}

/** Largest decoded size of a body. A small archive can expand to any size. */
const LARGEST_BYTES = 10 * 1024 * 1024;

export async function readableBody(row: BodyRow | undefined): Promise<ReadableBody> {
  const facts = { body_bytes: Number(row?.original_bytes ?? 0), body_truncated: row?.truncated ?? false };
  if (!row?.body)
    return { body: null, body_format: null, ...facts, body_unavailable: row?.is_out_of_reach === true };
  try {
    const bytes = await decode(await decode(row.body, row.stored_encoding), row.content_encoding);
    return { ...presented(bytes, row), ...facts, body_unavailable: false };
  } catch {
    return { body: null, body_format: null, ...facts, body_unavailable: true };
  }
}

const decode = (bytes: Buffer, encoding: string | null): Promise<Buffer> =>
  decoded(bytes, codingsOf(encoding), LARGEST_BYTES);

function presented(
  bytes: Buffer,
  { content_type, truncated }: BodyRow,
): Pick<ReadableBody, 'body' | 'body_format'> {
  const text = textIn(bytes, truncated);
  if (text === undefined) return { body: bytes.toString('base64'), body_format: 'base64' };
  const json = truncated ? undefined : jsonIn(text, content_type);
  return json === undefined ? { body: text, body_format: 'text' } : { body: json.value, body_format: 'json' };
}

/** Where the middle is missing, up to three bytes of a character may remain on each side. */
const BROKEN_AT_SEAM = 6;
const REPLACEMENT = '\uFFFD';

function textIn(bytes: Buffer, truncated: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = truncated ? bytes.toString('utf8') : undefined;
    return text !== undefined && text.split(REPLACEMENT).length - 1 <= BROKEN_AT_SEAM ? text : undefined;
  }
}

function jsonIn(text: string, contentType: string | null): { readonly value: unknown } | undefined {
  if (!/json/i.test(contentType ?? '') && !/^\s*[[{]/.test(text)) return undefined;
  if (isDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const DEEPEST = 500;

/**
 * Whether brackets nest so deeply that serializing the value might exhaust the stack, which parsing does not. Brackets inside strings count
 * as well: the body is then shown as text, and nothing is lost.
 */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > DEEPEST) return true;
  }
  return false;
}
