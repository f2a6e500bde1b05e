import type { Egress } from '../../egress/egress.js';
import { keysInSet, LARGEST_KEY_SET_BYTES, type StoredKey } from '../../auth/tokens/key-set.js';

/** Shorter than the timeout of a directory lookup. */
const TIMEOUT_MS = 2_500;
const HEADERS = ['accept', 'application/jwk-set+json, application/json', 'accept-encoding', 'identity'];

/** Result of a fetch: the keys, or the problem in words for the organization's administrators. */
export type PublishedKeySet = { readonly keys: readonly StoredKey[] } | { readonly problem: string };

/**
 * Fetches a key set. Never rejects, follows no redirect, which could point to an internal address
 * (https://www.rfc-editor.org/rfc/rfc8725#section-3.10), and stops at the maximum size of a key set.
 */
export async function publishedKeys(
  egress: Egress,
  organizationId: string,
  uri: string,
): Promise<PublishedKeySet> {
  try {
    const { origin, pathname, search } = new URL(uri);
    const { statusCode, body } = await egress.pool(organizationId, origin).request({
      method: 'GET',
      path: pathname + search,
      headers: HEADERS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await textOf(body);
    if (statusCode !== 200) return { problem: `it returned status ${statusCode}` };
    return text === null ? { problem: `it is larger than ${LARGEST_KEY_SET_BYTES} bytes` } : readSet(text);
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { problem: isLate ? `it did not respond within ${TIMEOUT_MS} ms` : 'it could not be reached' };
  }
}

function readSet(text: string): PublishedKeySet {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    return { problem: 'it is not JSON' };
  }
  const keys = keysInSet(set);
  return typeof keys === 'string' ? { problem: keys } : { keys };
}

/** Null for a body that is too long; leaving the loop closes its connection. */
async function textOf(body: AsyncIterable<unknown>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > LARGEST_KEY_SET_BYTES) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
