import type { CapturedBody } from '../../common/contracts/request-log.js';

const STAR = 0x2a;
/** Shorter texts occur by chance, and are no secrets. */
const SECRET_CHARS_MIN = 8;

/**
 * A captured body in which none of the secrets stands, each replaced by as many `*`. Providers echo credentials in
 * their error texts. The bytes that go to the client are not touched: a hit is masked in a copy.
 */
export function redacted(body: CapturedBody | null, secrets: readonly string[]): CapturedBody | null {
  if (!body || secrets.length === 0) return body;
  const whole = body.chunks.length === 1 ? (body.chunks[0] as Buffer) : Buffer.concat(body.chunks);
  let clear: Buffer | null = null;
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARS_MIN || !mayHold(whole, secret)) continue;
    for (let at = whole.indexOf(secret); at >= 0; at = whole.indexOf(secret, at + 1)) {
      clear ??= Buffer.from(whole);
      clear.fill(STAR, at, at + Buffer.byteLength(secret));
    }
  }
  return clear ? { ...body, chunks: [clear] } : body;
}

const END_CHARS = 12;

/**
 * Keys begin alike and as words do (`sk-`, `gw_`), so their ends are found, or not, in half the time; and in half of that
 * where each character is a byte.
 */
function mayHold(whole: Buffer, secret: string): boolean {
  const end = secret.slice(-END_CHARS);
  return whole.includes(end, 0, Buffer.byteLength(end) === END_CHARS ? 'latin1' : 'utf8');
}
