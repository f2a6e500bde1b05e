import { type Batches, fileContent } from '../batches.js';
import type { Provider } from '../provider.js';

/** Where no request succeeded there is a file of errors alone. https://platform.openai.com/docs/api-reference/batch/object */
const openAiBatches: Batches = {
  pathOf: (id) => `/batches/${id}`,
  outputOf: (batch) => fileContent(batch.output_file_id) ?? fileContent(batch.error_file_id),
};

/** Null where the provider has no batches that are known here. */
export function batchesOf({ dialect, endpoints }: Provider): Batches | null {
  return dialect.batches ?? (endpoints.includes('batches') ? openAiBatches : null);
}
