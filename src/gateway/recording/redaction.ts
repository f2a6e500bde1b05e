import { codingsOf, decodedSync } from '../../common/http/content-coding.js';
import type { CapturedBody } from '../../request-log/record.js';
import { SECRET_CHARS_MIN } from './masking.js';

const STAR = 0x2a;

/** Maximum decoded size of a body: readers of the log decode no more either. */
const UNPACKED_BYTES_MAX = 10 * 1024 * 1024;

/**
 * A captured body with each secret replaced by as many `*`. Providers echo credentials in their error texts, compressed ones too: a refusal
 * is decoded, and stays decoded if it contains a secret. Decoding 1 KiB takes 40 µs, a third of a request, so other responses are searched
 * as they are. The client's bytes are not changed: secrets are masked in a copy.
 */
export function redacted(
  body: CapturedBody | null,
  secrets: readonly string[],
  isRefusal = false,
): CapturedBody | null {
  if (!body || secrets.length === 0) return body;
  const whole = body.chunks.length === 1 ? (body.chunks[0] as Buffer) : Buffer.concat(body.chunks);
  const coding = body.content_encoding;
  const text = coding !== null && isRefusal ? unpacked(whole, coding) : null;
  const clear = masked(text ?? whole, secrets);
  return clear ? { ...body, chunks: [clear], content_encoding: text ? null : coding } : body;
}

/** Null if readers of the log cannot decode it. */
function unpacked(bytes: Buffer, contentEncoding: string): Buffer | null {
  try {
    return decodedSync(bytes, codingsOf(contentEncoding), UNPACKED_BYTES_MAX);
  } catch {
    return null;
  }
}

/** Null if there are none. */
function masked(whole: Buffer, secrets: readonly string[]): Buffer | null {
  let clear: Buffer | null = null;
  for (const secret of secrets) {
    clear = without(secret, whole, clear);
    if (secret.includes('/')) clear = without(secret.replaceAll('/', ESCAPED_SLASH), whole, clear);
  }
  return clear;
}

/** Some JSON serializers escape the slash, which base64 contains: https://www.rfc-editor.org/rfc/rfc8259#section-7 */
const ESCAPED_SLASH = String.raw`\/`;

/** `clear`: the copy in which other secrets are already masked; null until a copy is needed. */
function without(secret: string, whole: Buffer, clear: Buffer | null): Buffer | null {
  if (secret.length < SECRET_CHARS_MIN || !mayHold(whole, secret)) return clear;
  let copy = clear;
  for (let at = whole.indexOf(secret); at >= 0; at = whole.indexOf(secret, at + 1)) {
    copy ??= Buffer.from(whole);
    copy.fill(STAR, at, at + Buffer.byteLength(secret));
  }
  return copy;
}

const END_CHARS = 12;

/**
 * Keys begin alike and like words (`sk-`, `gw_`), so that searching for their ends takes half the time; and half of that again if each
 * character is one byte.
 */
function mayHold(whole: Buffer, secret: string): boolean {
  const end = secret.slice(-END_CHARS);
  return whole.includes(end, 0, Buffer.byteLength(end) === END_CHARS ? 'latin1' : 'utf8');
}
