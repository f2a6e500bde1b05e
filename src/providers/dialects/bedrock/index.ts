import type { Dialect } from '../../dialect.js';
import { chatCompletions } from './chat.js';
import { countTokens } from './count-tokens.js';
import { embeddings } from './embeddings.js';
import { imageGenerations } from './images.js';

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
