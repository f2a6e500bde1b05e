import { type AppError, errorBody } from '../../common/errors/app-error.js';
import type { ClientRequest } from '../../common/http/messages.js';
import type { Json } from '../../providers/endpoint.js';
import { googleStatusError } from '../../providers/dialects/gemini/errors.js';
import { messagesError } from '../../providers/client-formats/messages/errors.js';

/** An error of the gateway as a client receives it. */
export interface ErrorReply {
  readonly status: number;
  readonly body: Json;
  /** Further headers: names and values in turn. */
  readonly headers: readonly string[];
}

type Subject = Pick<ClientRequest, 'url' | 'headers'>;

/** The format in which some clients read errors. */
interface ErrorFormat {
  /** The requests of these clients. */
  readonly isOf: (request: Subject, error: AppError) => boolean;
  readonly reply: (error: AppError, requestId: string) => ErrorReply;
}

/** A rate limit that ends within this time is worth waiting for. */
const SHORT_WAIT_SECONDS = 60;

/**
 * The formats of errors, the most specific first. Each keeps the gateway's message, code and request id.
 * `docs/clients.md` describes what the clients do with them.
 */
const FORMATS: readonly ErrorFormat[] = [
  { isOf: ({ url = '' }) => GOOGLES_PATH.test(url), reply: googleReply },
  { isOf: ({ url = '' }) => ANTHROPICS_PATH.test(url), reply: anthropicReply },
  { isOf: isLimitOfCodex, reply: codexLimitReply },
];

/** How a client receives an error: by the path of its request, or by the client itself where it needs more. */
export function errorReply(error: AppError, request: Subject, requestId: string): ErrorReply {
  const format = FORMATS.find(({ isOf }) => isOf(request, error));
  const id = isOpenCode(request) ? '' : requestId;
  return format?.reply(error, id) ?? plainReply(error, id);
}

/**
 * OpenCode repeats an error whose body has 429, 500, 502, 503, 504 or 524 anywhere, as one request id in forty has. Its users find the id
 * in the header `x-gateway-request-id`. https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/retry.ts
 */
const isOpenCode = ({ headers }: Subject): boolean => headers['user-agent']?.startsWith('opencode/') === true;

const NO_HEADERS: readonly string[] = [];

const plainReply = (error: AppError, requestId: string): ErrorReply => ({
  status: error.spec.status,
  body: { ...errorBody(error, requestId) },
  headers: NO_HEADERS,
});

/** A version or an upload of Google's, except its paths of OpenAI's format; or a method of a model below any version. */
const GOOGLES_PATH =
  /^(?:\/v1)?\/(?:upload\/v1(?:alpha|beta)?|v1(?:alpha|beta))\/(?!openai\/)|^\/v1(?:\/[^?]*)?\/models\/[^?]+:\w+(?:\?|$)/;

/** https://cloud.google.com/apis/design/errors#error_model */
function googleReply(error: AppError, requestId: string): ErrorReply {
  const { code, message, spec, details } = error;
  const retryAfter = typeof details.retryAfter === 'number' ? details.retryAfter : null;
  const body = googleStatusError({ status: spec.status, code, message, requestId, retryAfter });
  return { status: spec.status, body, headers: NO_HEADERS };
}

const ANTHROPICS_PATH = /^(?:\/v1)+\/messages(?:[/?]|$)/;

/** https://platform.claude.com/docs/en/api/errors */
function anthropicReply(error: AppError, requestId: string): ErrorReply {
  const { status } = error.spec;
  const ours = errorBody(error, requestId).error;
  const theirs = messagesError({ ...ours }, status);
  const body = { ...theirs, error: { ...ours, ...(theirs.error as Json) }, request_id: requestId };
  return { status, body, headers: NO_HEADERS };
}

const RESPONSES_PATH = /^(?:\/v1)+\/responses(?:[/?]|$)/;

/** Codex sends its name: https://github.com/openai/codex/blob/main/codex-rs/login/src/auth/default_client.rs */
const isCodex = ({ url = '', headers }: Subject): boolean =>
  RESPONSES_PATH.test(url) && String(headers.originator ?? '').startsWith('codex');

/** A limit for which nobody should wait in silence: a spent budget, or a rate that is free again only after a while. */
function isLimitOfCodex(request: Subject, { code, details }: AppError): boolean {
  const isLong =
    code === 'budget_exceeded' ||
    (code === 'rate_limited' && Number(details.retryAfter) > SHORT_WAIT_SECONDS);
  return isLong && isCodex(request);
}

/**
 * Codex repeats a 402 and waits for a `retry-after` of any length without a word. It stops at a 429 with this type, and shows
 * the time of the reset and the text of this header, but not the message of the body.
 * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/api_bridge.rs
 */
function codexLimitReply(error: AppError, requestId: string): ErrorReply {
  const ours = errorBody(error, requestId).error;
  const resetsAt = resetOf(error);
  const resets = resetsAt && {
    resets_at: resetsAt,
    resets_in_seconds: Math.max(0, resetsAt - Math.floor(Date.now() / 1000)),
  };
  return {
    status: 429,
    body: { error: { ...ours, type: 'usage_limit_reached', ...resets } },
    headers: ['x-codex-promo-message', headerText(ours.message)],
  };
}

/** When more is free, in seconds since the epoch; null if nothing resets the limit. */
function resetOf({ details: { resetsAt, retryAfter } }: AppError): number | null {
  if (typeof resetsAt === 'number') return resetsAt;
  return typeof retryAfter === 'number' ? Math.ceil(Date.now() / 1000) + retryAfter : null;
}

/** Codex appends "or try again at …" to the text, and ignores a header with other characters. */
const headerText = (message: string): string => message.replace(/[^\x20-\x7e]/g, '?').replace(/\.$/, '');
