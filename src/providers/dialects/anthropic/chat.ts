import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { factsOf } from '../claude/models.js';
import { checkSampling } from '../claude/thinking.js';
import { hubAnswer } from './answer.js';
import { hubError } from './errors.js';
import { conversationOf } from './request/messages.js';
import { parametersOf } from './request/parameters.js';
import { withoutRefusedThinking } from './request/refused-thinking.js';
import { toolsOf } from './request/tools.js';
import { AnthropicStream } from './stream.js';

/**
 * The API version of the requests. The later one, 2026-10-21, lacks `temperature`, `top_p` and `top_k`, which the hub has; everything else
 * that is sent here is the same in both. https://platform.claude.com/docs/en/api/versioning
 */
const VERSION = ['anthropic-version', '2023-06-01'] as const;

/** A chat of the hub as a request to `/messages`. https://platform.claude.com/docs/en/api/messages */
function request(hub: Json, { model, isStreamed }: Context): ProviderRequest {
  const { system, messages } = conversationOf(hub.messages, factsOf(model).takesSystemTurns);
  const body: Record<string, unknown> = parametersOf(hub, model);
  if (system.length > 0) body['system'] = system;
  body['messages'] = messages;
  Object.assign(body, toolsOf(hub));
  if (isStreamed) body['stream'] = true;
  const allowed = withoutRefusedThinking(body, hub);
  checkSampling(hub, allowed.thinking);
  return { path: '/messages', body: allowed, headers: VERSION };
}

/** The hub's chat completions in Anthropic's Messages API. */
export const chatCompletions: Translator = {
  request,
  answer: hubAnswer,
  error: hubError,
  stream: { framing: 'sse', open: (context) => new AnthropicStream(context) },
};
