import type { Batches } from '../../batches.js';

/**
 * Answers are there when `results_url` is; it is an address of Anthropic's, and what is asked is the path that is documented
 * for it. https://platform.claude.com/docs/en/api/cli/messages/batches/results.md
 */
export const batches: Batches = {
  pathOf: (id) => `/messages/batches/${id}`,
  outputOf: ({ results_url: address }, id) =>
    typeof address === 'string' ? `/messages/batches/${id}/results` : null,
};
