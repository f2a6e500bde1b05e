import createClient from 'openapi-fetch';
import type { paths } from './schema';

/** Why a request to the administration failed: the server's own error, or null because it is unreachable. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
    /** Seconds until the server accepts the next attempt, if it says so. */
    readonly retryAfter: number | null = null,
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

/** Header required for changes, which a form on another site cannot send. */
const CSRF_HEADERS = { 'x-gateway-csrf': '1' };

const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

/** For a user of several workspaces, every request names one. The server requires it only from them. */
let workspaceHeaders: Readonly<Record<string, string>> = {};
export function nameWorkspace(slug: string | null): void {
  workspaceHeaders = slug === null ? {} : { 'x-gateway-workspace': slug };
}

function sendOnce(request: Request): Promise<Response> {
  const headers = new Headers(request.headers);
  const isOfSession = new URL(request.url).pathname.startsWith('/v1/auth/');
  const added = { ...(!isOfSession && workspaceHeaders), ...(isChange(request.method) && CSRF_HEADERS) };
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return fetch(new Request(request, { headers }));
}

/** Resolves the cause of an error, and returns whether to repeat the request. */
type Remedy = () => Promise<boolean>;

/** By error code. A request that was under way while the session got a new cookie only needs the new cookie. */
const remedies = new Map<string, Remedy>([['session_ended', () => Promise.resolve(true)]]);

/** Concurrent failed requests share one remedy. Returns a function that removes it. */
export function remedy(code: string, makeGood: Remedy): () => void {
  let running: Promise<boolean> | null = null;
  remedies.set(code, () => (running ??= makeGood().finally(() => (running = null))));
  return () => void remedies.delete(code);
}

async function codeOf(response: Response): Promise<string> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as Refusal | null;
  return body?.error?.code ?? '';
}

/** The remedy for requests without a session, while a page of a signed-in user is open. */
export const SIGNED_OUT = 'signed_out';
const CODES_OF_SIGNED_OUT: ReadonlySet<string> = new Set(['unauthenticated', 'session_ended']);

/** Repeats a refused request if the cause was resolved. The server had done nothing yet. */
async function send(request: Request): Promise<Response> {
  const [again, afterSignIn] = [request.clone(), request.clone()];
  const first = await sendOnce(request);
  if (first.status !== 401 && first.status !== 403) return first;
  const isMadeGood = await remedies.get(await codeOf(first))?.();
  const response = isMadeGood ? await sendOnce(again) : first;
  if (response.status !== 401 || request.url.endsWith('/sign-out')) return response;
  const isSignedIn = CODES_OF_SIGNED_OUT.has(await codeOf(response)) && (await remedies.get(SIGNED_OUT)?.());
  return isSignedIn ? sendOnce(afterSignIn) : response;
}

/** Every operation of `openapi.json`, typed. Wrap each call in `dataOf`. */
export const client = createClient<paths>({
  baseUrl: location.origin,
  credentials: 'same-origin',
  fetch: send,
});

/** The data of a response. Throws an `ApiError` for every other outcome, except a cancelled request, whose own error is rethrown. */
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
    Number(response.headers.get('retry-after')) || null,
  );
}

/** A request outside `openapi.json`, such as those for signing in. */
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
