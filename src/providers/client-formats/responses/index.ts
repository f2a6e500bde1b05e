import type { ClientFormat } from '../../translation.js';
import { responseOf } from './answer.js';
import { hubRequest } from './request.js';
import { ResponseStream } from './stream.js';

/**
 * OpenAI's `POST /v1/responses` for a provider with chat completions. https://platform.openai.com/docs/api-reference/responses
 *
 * Nothing is stored: the response has `store: false`. OpenAI stores responses by default, and its SDKs do not set the parameter; so a
 * request without it is served, while `store: true`, and everything that depends on stored responses (`previous_response_id`,
 * `conversation`, references to items), is refused by name. So are features that run at OpenAI: built-in tools, `background`, prompt
 * templates.
 *
 * A request names the same tools and hints to every provider, because its client knows OpenAI's models only: a provider goes without those
 * that it lacks. Its own tools remain, and one call at a time remains one (`output.ts`).
 *
 * Reasoning is sent back to its provider: as text, and with its signatures in `encrypted_content` (`sealing.ts`).
 */
export const responsesFormat: ClientFormat = {
  endpoint: 'responses',
  hints: new Set(['verbosity', 'parallel_tool_calls', 'tools.web_search', 'tools.tool_search']),
  request: (body) => hubRequest(body),
  answer: (hub, request, context) => responseOf(hub, request, context),
  error: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  open: (request, context) => new ResponseStream(request, context),
};
