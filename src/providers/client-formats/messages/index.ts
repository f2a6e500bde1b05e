import type { Json } from '../../endpoint.js';
import type { ClientFormat, Context } from '../../translation.js';
import { messagesAnswer } from './answer.js';
import { messagesError } from './errors.js';
import { hubParameters } from './request/parameters.js';
import { messagesTools } from './request/tools.js';
import { hubMessages } from './request/turns.js';
import { MessagesStream } from './stream.js';

function request(body: Json, { model }: Context): Json {
  return { ...hubParameters(body, model), messages: hubMessages(body), ...messagesTools(body) };
}

/** Clients of Anthropic's Messages API, such as its SDKs and Claude Code. https://platform.claude.com/docs/en/api/messages */
export const messagesFormat: ClientFormat = {
  endpoint: 'messages',
  request,
  answer: (hub, _asked, context) => messagesAnswer(hub, context),
  error: messagesError,
  open: (_asked, context) => new MessagesStream(context),
};
