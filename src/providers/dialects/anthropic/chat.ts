import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { factsOf } from '../claude/models.js';
import { checkSampling } from '../claude/thinking.js';
import { fromAnthropicMessage } from './answer.js';
import { anthropicError } from './errors.js';
import { anthropicConversation } from './request/messages.js';
import { anthropicParameters } from './request/parameters.js';
import { anthropicWithoutRefusedThinking } from './request/refused-thinking.js';
import { anthropicTools } from './request/tools.js';
import { AnthropicStream } from './stream.js';

/**
 * The API version of the requests. The later one, 2026-10-21, lacks `temperature`, `top_p` and `top_k`, which the hub has; everything else
 * that is sent here is the same in both. https://platform.claude.com/docs/en/api/versioning
 */
const VERSION = ['anthropic-version', '2023-06-01'] as const;

/** A chat of the hub as a request to `/messages`. https://platform.claude.com/docs/en/api/messages */
function request(hub: Json, { model, isStreamed }: Context): ProviderRequest {
  const { system, messages } = anthropicConversation(hub.messages, factsOf(model).takesSystemTurns);
  const body: Record<string, unknown> = anthropicParameters(hub, model);
  if (system.length > 0) body['system'] = system;
  body['messages'] = messages;
  Object.assign(body, anthropicTools(hub));
  if (isStreamed) body['stream'] = true;
  const allowed = anthropicWithoutRefusedThinking(body, hub);
  checkSampling(hub, allowed.thinking);
  return { path: '/messages', body: allowed, headers: VERSION };
}

/** The hub's chat completions in Anthropic's Messages API. */
export const anthropicChat: Translator = {
  request,
  answer: fromAnthropicMessage,
  error: anthropicError,
  stream: { framing: 'sse', open: (context) => new AnthropicStream(context) },
};
