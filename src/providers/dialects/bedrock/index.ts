import type { Dialect } from '../../dialect.js';
import { chatCompletions } from './chat.js';
import { embeddings } from './embeddings.js';
import { imageGenerations } from './images.js';
import type { Translator } from '../../translation.js';
import { hubError } from './errors.js';
import { modelPath } from './models.js';
import { conversationOf } from './request/messages.js';
import { toolsOf } from './request/tools.js';

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html */
const countTokens: Translator = {
  request(hub, { model }) {
    const { system, messages } = conversationOf(hub.messages);
    const converse = { ...(system.length > 0 ? { system } : {}), messages, ...toolsOf(hub, messages, model) };
    return { path: modelPath(model, 'count-tokens'), body: { input: { converse } } };
  },
  answer: ({ inputTokens }) => ({ input_tokens: inputTokens }),
  error: hubError,
};

/**
 * Amazon Bedrock: chats by Converse, embeddings and images by InvokeModel.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/welcome.html
 */
export const bedrock: Dialect = {
  id: 'bedrock',
  translators: {
    'chat-completions': chatCompletions,
    embeddings,
    'image-generations': imageGenerations,
    'count-tokens': countTokens,
  },
};
