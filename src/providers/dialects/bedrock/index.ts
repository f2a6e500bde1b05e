import type { Dialect } from '../../dialect.js';
import { bedrockChat } from './chat.js';
import { bedrockEmbeddings } from './embeddings.js';
import { bedrockImages } from './images.js';
import type { Translator } from '../../translation.js';
import { bedrockError } from './errors.js';
import { bedrockModelPath } from './models.js';
import { bedrockConversation } from './request/messages.js';
import { bedrockTools } from './request/tools.js';

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html */
const countTokens: Translator = {
  request(hub, { model }) {
    const { system, messages } = bedrockConversation(hub.messages);
    const converse = {
      ...(system.length > 0 ? { system } : {}),
      messages,
      ...bedrockTools(hub, messages, model),
    };
    return { path: bedrockModelPath(model, 'count-tokens'), body: { input: { converse } } };
  },
  answer: ({ inputTokens }) => ({ input_tokens: inputTokens }),
  error: bedrockError,
};

/**
 * Amazon Bedrock: chats by Converse, embeddings and images by InvokeModel.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/welcome.html
 */
export const bedrock: Dialect = {
  id: 'bedrock',
  translators: {
    'chat-completions': bedrockChat,
    embeddings: bedrockEmbeddings,
    'image-generations': bedrockImages,
    'count-tokens': countTokens,
  },
};
