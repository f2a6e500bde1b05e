import { fileContentPath } from '../batches.js';
import type { Dialect } from '../dialect.js';

/** OpenAI's format except for batches, which are jobs. https://docs.mistral.ai/api/endpoint/batch */
export const mistral: Dialect = {
  id: 'mistral',
  batches: {
    pathOf: (id) => `/batch/jobs/${id}`,
    outputOf: (job) => fileContentPath(job.output_file) ?? fileContentPath(job.error_file),
  },
};
