import type { Endpoint, EndpointId, Operation } from '../../endpoint.js';
import { get, openAiClient, post, remove } from './operation.js';

/**
 * Objects stored at a provider. The gateway reads neither their bodies nor their responses: a stored response repeats the usage reported at
 * its creation, which would be charged twice.
 */
export const storedEndpoints: readonly Endpoint[] = [
  stored(
    'responses',
    'stored responses',
    [
      get('/responses/{id}'),
      remove('/responses/{id}'),
      post('/responses/{id}/cancel'),
      get('/responses/{id}/input_items'),
    ],
    'responses/responses.ts',
  ),
  stored(
    'files',
    'files',
    [post('/files'), get('/files'), get('/files/{id}'), get('/files/{id}/content'), remove('/files/{id}')],
    'files.ts',
  ),
  stored(
    'batches',
    'batches',
    [
      post('/batches'),
      get('/batches'),
      get('/batches/{id}'),
      post('/batches/{id}/cancel'),
      // The gateway's own path: the output of a batch, wherever the provider stores it.
      get('/batches/{id}/output'),
    ],
    'batches.ts',
  ),
  stored(
    'fine-tuning',
    'fine-tuning jobs',
    [
      post('/fine_tuning/jobs'),
      get('/fine_tuning/jobs'),
      get('/fine_tuning/jobs/{id}'),
      post('/fine_tuning/jobs/{id}/cancel'),
      post('/fine_tuning/jobs/{id}/pause'),
      post('/fine_tuning/jobs/{id}/resume'),
      get('/fine_tuning/jobs/{id}/events'),
      get('/fine_tuning/jobs/{id}/checkpoints'),
    ],
    'fine-tuning/jobs/jobs.ts',
  ),
  stored('vector-stores', 'vector stores', vectorStores('/vector_stores'), 'vector-stores/vector-stores.ts'),
  stored('models', 'models', [get('/models'), get('/models/{id}'), remove('/models/{id}')], 'models.ts'),
];

function vectorStores(root: string): readonly Operation[] {
  const one = `${root}/{id}`;
  const file = `${one}/files/{file_id}`;
  const batch = `${one}/file_batches/{batch_id}`;
  return [
    ...[post(root), get(root), get(one), post(one), remove(one), post(`${one}/search`)],
    ...[
      post(`${one}/files`),
      get(`${one}/files`),
      get(file),
      post(file),
      remove(file),
      get(`${file}/content`),
    ],
    ...[post(`${one}/file_batches`), get(batch), post(`${batch}/cancel`), get(`${batch}/files`)],
  ];
}

function stored(id: EndpointId, title: string, operations: readonly Operation[], file: string): Endpoint {
  return {
    id,
    title,
    operations,
    body: 'opaque',
    usage: null,
    usageInStreams: 'always',
    source: openAiClient(file),
  };
}
