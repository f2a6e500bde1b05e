import type { Dialect } from '../../dialect.js';
import { anthropicChat } from './chat.js';
import type { Batches } from '../../batches.js';

/**
 * The output exists once `results_url` is set. That URL is Anthropic's; the request uses the documented path instead.
 * https://platform.claude.com/docs/en/api/cli/messages/batches/results.md
 */
const batches: Batches = {
  pathOf: (id) => `/messages/batches/${id}`,
  outputOf: ({ results_url: address }, id) =>
    typeof address === 'string' ? `/messages/batches/${id}/results` : null,
};

/** Anthropic's Messages API. https://platform.claude.com/docs/en/api/messages */
export const anthropic: Dialect = {
  id: 'anthropic',
  translators: { 'chat-completions': anthropicChat },
  batches,
};
