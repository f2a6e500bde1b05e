import createClient from 'openapi-fetch';
import type { paths } from './schema';

/** Why a request to the administration failed: its own refusal, or none because the server cannot be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  static from(thrown: unknown): ApiError {
    return thrown instanceof ApiError ? thrown : new ApiError(0, 'unreachable', '');
  }
}

interface Refusal {
  readonly error?: { readonly message?: string; readonly code?: string; readonly request_id?: string };
}

/** Changes name the dashboard, which a form on a foreign page cannot do. */
const CSRF_HEADERS = { 'x-gateway-csrf': '1' };

const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function send(request: Request): Promise<Response> {
  if (!isChange(request.method)) return fetch(request);
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(CSRF_HEADERS)) headers.set(name, value);
  return fetch(new Request(request, { headers }));
}

/** Every operation of `openapi.json`, typed. Wrap each call in `dataOf`. */
export const client = createClient<paths>({
  baseUrl: location.origin,
  credentials: 'same-origin',
  fetch: send,
});

/** The data of an answer. Throws an `ApiError` for every other outcome, except a cancelled request, whose own error passes. */
export async function dataOf<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw ApiError.from(error);
  }
  if (answer.response.ok) return answer.data as Data;
  throw refusalOf(answer.error, answer.response);
}

function refusalOf(body: unknown, response: Response): ApiError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as Refusal;
  const requestId = error?.request_id ?? response.headers.get('x-gateway-request-id');
  return new ApiError(
    response.status,
    error?.code ?? `http_${response.status}`,
    error?.message ?? '',
    requestId,
  );
}

/** A request outside of `openapi.json`, such as those of signing in. */
export async function ask<Data>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Data> {
  const request = new Request(new URL(path, location.origin), {
    method,
    credentials: 'same-origin',
    signal,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return dataOf(
    send(request).then(async (response) => {
      const parsed: unknown = await response.json().catch(() => null);
      return response.ok ? { data: parsed as Data, response } : { error: parsed, response };
    }),
  );
}
