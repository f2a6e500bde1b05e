import type { Dialect } from '../../dialect.js';
import { batches } from './batches.js';
import { chatCompletions } from './chat.js';

/** Anthropic's Messages API. https://platform.claude.com/docs/en/api/messages */
export const anthropic: Dialect = {
  id: 'anthropic',
  translators: { 'chat-completions': chatCompletions },
  batches,
};
