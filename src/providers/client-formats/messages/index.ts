import type { Json } from '../../endpoint.js';
import type { ClientShape, Context } from '../../translation.js';
import { messagesAnswer } from './answer.js';
import { messagesError } from './errors.js';
import { parametersOf } from './request/parameters.js';
import { toolsOf } from './request/tools.js';
import { messagesOf } from './request/turns.js';
import { MessagesStream } from './stream.js';

function request(body: Json, { model }: Context): Json {
  return { ...parametersOf(body, model), messages: messagesOf(body), ...toolsOf(body) };
}

/** Clients of Anthropic's Messages API, such as its SDKs and Claude Code. https://platform.claude.com/docs/en/api/messages */
export const messages: ClientShape = {
  endpoint: 'messages',
  request,
  answer: (hub, _asked, context) => messagesAnswer(hub, context),
  error: messagesError,
  open: (_asked, context) => new MessagesStream(context),
};
