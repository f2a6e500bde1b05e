import type { Json } from '../endpoint.js';
import { count, isObject, stringify, wordOf } from '../endpoints/reading.js';
import { sandboxChunks, completionOf, CREATED, type Heading } from './frames.js';
import { type SandboxError, type SandboxModel, sandboxModels } from './models.js';
import { replyTo } from './reply.js';
import type { WireModel } from './wire.js';

export interface SandboxRequest {
  readonly method: string;
  /** Path below `/v1`, with or without a query: `/chat/completions`. */
  readonly path: string;
  readonly body: Buffer;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** What to send, in order. A frame is due `afterMs` milliseconds after the previous one. */
  readonly frames: readonly SandboxFrame[];
}

export interface SandboxFrame {
  readonly afterMs: number;
  readonly bytes: Buffer;
}

/** A fingerprint of the beginning and the length distinguishes requests well enough. */
const FINGERPRINTED_BYTES = 65_536;
/** OpenAI's maximum of choices. */
const MAX_CHOICES = 128;

const models = new Map(sandboxModels.map((model) => [model.id, model]));

/**
 * The response of the built-in provider, in OpenAI's wire format. Pure: the same request gives the same bytes, and nothing leaves the
 * process. It offers chat completions (streamed and not, several choices, tools, JSON) and its list of models.
 */
export function sandboxAnswer(request: SandboxRequest): SandboxAnswer {
  const path = request.path.split('?', 1)[0] ?? '';
  if (path === '/chat/completions' && request.method === 'POST') return chat(request.body);
  if (request.method === 'GET' && path === '/models') {
    return json(200, { object: 'list', data: sandboxModels.map(listed) });
  }
  if (request.method === 'GET' && path.startsWith('/models/')) return oneModel(path.slice('/models/'.length));
  return refusal(
    404,
    `The sandbox has no ${request.method} ${path.slice(0, 200)}. It supports POST /chat/completions and GET /models.`,
    {
      code: 'unknown_url',
    },
  );
}

function chat(body: Buffer): SandboxAnswer {
  const request = parsed(body);
  const wrong = whatIsWrong(request);
  if (!request || wrong) return refusal(400, wrong ?? 'The body is not a JSON object.');
  const model = models.get(wordOf(request.model));
  if (!model) return unknownModel(wordOf(request.model));
  if (model.error) return failure(model.error);
  return delivered(request, model, `chatcmpl-sandbox-${fingerprint(body)}`);
}

function whatIsWrong(request: Json | null): string | null {
  if (!request) return 'The body is not a JSON object.';
  if (typeof request.model !== 'string') return 'The field "model" is missing or not a string.';
  if (!Array.isArray(request.messages) || request.messages.length === 0) {
    return 'The field "messages" is missing or not a list with at least one message.';
  }
  const choices = request.n ?? 1;
  if (!count(choices) || (choices as number) > MAX_CHOICES)
    return `The field "n" is not a number from 1 to ${MAX_CHOICES}.`;
  return null;
}

function delivered(request: Json, model: SandboxModel, id: string): SandboxAnswer {
  const options = isObject(request.stream_options) ? request.stream_options : {};
  const heading: Heading = { id, model: model.id, includeUsage: options.include_usage === true };
  const reply = replyTo(request);
  const headers = [['x-request-id', id]] as const;
  if (request.stream !== true) return json(200, completionOf(heading, reply), headers, model.firstByteMs);

  const events = [...sandboxChunks(heading, reply).map(stringify), '[DONE]'];
  return {
    status: 200,
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ...headers,
    ],
    frames: events.map((event, index) => ({
      afterMs: index === 0 ? model.firstByteMs : model.betweenPiecesMs,
      bytes: Buffer.from(`data: ${event}\n\n`),
    })),
  };
}

const listed = ({ id }: SandboxModel): WireModel => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'gatehouse-sandbox',
});

function oneModel(id: string): SandboxAnswer {
  const model = models.get(id);
  return model ? json(200, listed(model)) : unknownModel(id);
}

function unknownModel(id: string): SandboxAnswer {
  const known = [...models.keys()].join(', ');
  return refusal(404, `The sandbox has no model "${id.slice(0, 64)}". It has: ${known}.`, {
    code: 'model_not_found',
    param: 'model',
  });
}

function failure({ status, message, type, code, headers }: SandboxError): SandboxAnswer {
  return json(status, { error: { message, type, param: null, code } }, headers);
}

function refusal(
  status: number,
  message: string,
  error: { code?: string; param?: string } = {},
): SandboxAnswer {
  return json(status, {
    error: { message, type: 'invalid_request_error', param: error.param ?? null, code: error.code ?? null },
  });
}

function json(
  status: number,
  body: unknown,
  headers: SandboxAnswer['headers'] = [],
  afterMs = 0,
): SandboxAnswer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...headers],
    frames: [{ afterMs, bytes: Buffer.from(stringify(body)) }],
  };
}

function parsed(body: Buffer): Json | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** FNV-1a: an id that is the same for the same request. Nothing depends on its being hard to guess. */
function fingerprint(body: Buffer): string {
  let hash = 0x811c9dc5 ^ body.length;
  for (const byte of body.subarray(0, FINGERPRINTED_BYTES)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
