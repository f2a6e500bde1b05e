import type { Egress } from '../../egress/egress.js';

const LARGEST_ANSWER_BYTES = 1024 * 1024;
export const TIMEOUT_MS = 5_000;

interface FetchOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
}

/** `fetch` for libraries, through the egress, which checks addresses. Follows no redirects and reads at most 1 MiB. */
export function egressFetch(
  egress: Egress,
  tenant: string,
): (url: string | URL, options?: FetchOptions) => Promise<Response> {
  return async (address, { method = 'GET', headers, body, signal } = {}) => {
    const { origin, pathname, search } = new URL(address);
    const answer = await egress.pool(tenant, origin).request({
      method: method,
      path: pathname + search,
      headers: [...new Headers(headers)].flat(),
      body: body === undefined || body === null ? null : String(body as string | URLSearchParams),
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
    });
    const bytes = await bytesOf(answer.body);
    const fields = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((each): [string, string] => [name, each]),
    );
    const hasBody = bytes.length > 0 && answer.statusCode !== 204 && answer.statusCode !== 304;
    return new Response(hasBody ? bytes : null, { status: answer.statusCode, headers: fields });
  };
}

/** Leaving the loop closes the connection of a response that is too long. */
async function bytesOf(body: AsyncIterable<unknown>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new Error(`The response is larger than ${LARGEST_ANSWER_BYTES} bytes.`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
