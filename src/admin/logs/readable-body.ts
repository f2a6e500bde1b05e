import { codingsOf, decoded } from '../../common/http/content-coding.js';
import type { BodyRow } from './request-parts.js';

/** A body in a form that users and programs can read. */
export interface ReadableBody {
  /** The JSON value, the text, or the bytes in base64; null when none was kept or it cannot be decoded. */
  readonly body: unknown;
  readonly body_format: 'json' | 'text' | 'base64' | null;
  /** Size of the whole body as it passed, in bytes. */
  readonly body_bytes: number;
  /** Only the beginning and the end were kept. */
  readonly body_truncated: boolean;
  /** It was kept, and cannot be decoded or not be had from the bucket. */
  readonly body_unavailable: boolean;
}

/** What a body may grow to when it is decoded. A small archive can hold any amount of zeros. */
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

/** At the seam between beginning and end, up to three bytes of a character on each side may be left over. */
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
 * Whether brackets nest so deep that writing the value out again might exhaust the stack, which parsing it does not.
 * Brackets inside of texts count as well: then the body is shown as the text it is, and nothing is lost.
 */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > DEEPEST) return true;
  }
  return false;
}
