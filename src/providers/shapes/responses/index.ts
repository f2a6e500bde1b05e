import type { ClientShape } from '../../translation.js';
import { responseOf } from './answer.js';
import { hubRequest } from './request.js';
import { ResponseStream } from './stream.js';

/**
 * OpenAI's `POST /v1/responses`, asked of a provider that has chat completions.
 * https://platform.openai.com/docs/api-reference/responses
 *
 * Nothing is kept: the answer says `store: false`. OpenAI keeps responses unless told not to, and its SDKs do not say;
 * so a request that says nothing is served, while `store: true`, and everything that builds on kept responses
 * (`previous_response_id`, `conversation`, references to items), is refused by name. So is what runs at OpenAI:
 * built-in tools, `background`, prompt templates.
 *
 * Reasoning goes back to its provider: as text, and with its signatures in `encrypted_content` (`sealing.ts`).
 */
export const responses: ClientShape = {
  endpoint: 'responses',
  request: (body) => hubRequest(body),
  answer: (hub, asked, context) => responseOf(hub, asked, context),
  error: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  open: (asked, context) => new ResponseStream(asked, context),
};
