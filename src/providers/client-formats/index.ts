import type { EndpointId, Json } from '../endpoint.js';
import type { ClientFormat, Context } from '../translation.js';
import { messagesFormat } from './messages/index.js';
import { responsesFormat } from './responses/index.js';
import { count } from '../endpoints/reading.js';

/** A count has no output, so it needs no output limit. */
function countedMessage(body: Json, context: Context): Json {
  const hub = messagesFormat.request({ ...body, max_tokens: 1 }, context);
  return Object.fromEntries(Object.entries(hub).filter(([name]) => !LIMITS.has(name)));
}

const LIMITS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens']);

/**
 * Counts the tokens that a message would have. The hub's request is that of the message itself; its response is `{ input_tokens }`.
 * https://platform.claude.com/docs/en/api/messages-count-tokens
 */
const countTokens: ClientFormat = {
  ...messagesFormat,
  endpoint: 'count-tokens',
  hub: 'count-tokens',
  request: countedMessage,
  answer: ({ input_tokens: tokens }) => ({ input_tokens: count(tokens) }),
};

/** Client formats of chat besides the hub's own, by endpoint. */
export const clientFormats: Readonly<Partial<Record<EndpointId, ClientFormat>>> = {
  messages: messagesFormat,
  responses: responsesFormat,
  'count-tokens': countTokens,
};
