import { type Batches, fileContentPath } from '../batches.js';
import type { Provider } from '../provider.js';

/** If no request succeeded, there is only a file of errors. https://platform.openai.com/docs/api-reference/batch/object */
const openAiBatches: Batches = {
  pathOf: (id) => `/batches/${id}`,
  outputOf: (batch) => fileContentPath(batch.output_file_id) ?? fileContentPath(batch.error_file_id),
};

/** Null if the provider's batches are not supported. */
export function batchesOf({ dialect, endpoints }: Provider): Batches | null {
  return dialect.batches ?? (endpoints.includes('batches') ? openAiBatches : null);
}
