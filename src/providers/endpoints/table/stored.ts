import type { Endpoint, EndpointOperation } from '../../endpoint.js';
import { get, openAiClient, post, remove } from './operation.js';

/**
 * Objects stored at a provider. The gateway reads neither their bodies nor their responses: a stored response repeats the usage reported at
 * its creation, which would be charged twice.
 */
export const storedEndpoints: readonly Endpoint[] = [
  stored(
    {
      id: 'responses',
      title: 'stored responses',
      group: 'text',
      description: "Takes the requests of OpenAI's Responses API. Responses are stored at the provider.",
      operations: [
        get('/responses/{id}', 'Read a stored response'),
        remove('/responses/{id}', 'Delete a stored response'),
        post('/responses/{id}/cancel', 'Cancel a background response'),
        get('/responses/{id}/input_items', 'List the input items of a stored response'),
      ],
    },
    'responses/responses.ts',
  ),
  stored(
    {
      id: 'files',
      title: 'files',
      group: 'files',
      description: 'Files are stored at the provider, not at the gateway.',
      operations: [
        post('/files', 'Upload a file'),
        get('/files', 'List files'),
        get('/files/{id}', 'Read a file'),
        get('/files/{id}/content', 'Download a file'),
        remove('/files/{id}', 'Delete a file'),
      ],
    },
    'files.ts',
  ),
  stored(
    {
      id: 'batches',
      title: 'batches',
      group: 'files',
      description:
        'The provider processes a file of requests within a day. The gateway does not measure batches, and refuses them under a limit in dollars or tokens.',
      operations: [
        post('/batches', 'Create a batch'),
        get('/batches', 'List batches'),
        get('/batches/{id}', 'Read a batch'),
        post('/batches/{id}/cancel', 'Cancel a batch'),
        // The gateway's own path: the output of a batch, wherever the provider stores it.
        get('/batches/{id}/output', 'Download the output of a batch'),
      ],
    },
    'batches.ts',
  ),
  stored(
    {
      id: 'fine-tuning',
      title: 'fine-tuning jobs',
      group: 'files',
      description: 'The provider trains a model with a file. The gateway does not charge for training.',
      operations: [
        post('/fine_tuning/jobs', 'Create a fine-tuning job'),
        get('/fine_tuning/jobs', 'List fine-tuning jobs'),
        get('/fine_tuning/jobs/{id}', 'Read a fine-tuning job'),
        post('/fine_tuning/jobs/{id}/cancel', 'Cancel a fine-tuning job'),
        post('/fine_tuning/jobs/{id}/pause', 'Pause a fine-tuning job'),
        post('/fine_tuning/jobs/{id}/resume', 'Resume a fine-tuning job'),
        get('/fine_tuning/jobs/{id}/events', 'List the events of a fine-tuning job'),
        get('/fine_tuning/jobs/{id}/checkpoints', 'List the checkpoints of a fine-tuning job'),
      ],
    },
    'fine-tuning/jobs/jobs.ts',
  ),
  stored(
    {
      id: 'vector-stores',
      title: 'vector stores',
      group: 'vector-stores',
      description: 'Vector stores are kept at the provider, not at the gateway.',
      operations: vectorStores('/vector_stores'),
    },
    'vector-stores/vector-stores.ts',
  ),
  stored(
    {
      id: 'models',
      title: 'models',
      group: 'models',
      description: 'Returns the models in the format of OpenAI.',
      operations: [
        get('/models', 'List models'),
        get('/models/{id}', 'Read a model'),
        remove('/models/{id}', 'Delete a fine-tuned model'),
      ],
    },
    'models.ts',
  ),
];

function vectorStores(root: string): readonly EndpointOperation[] {
  const one = `${root}/{id}`;
  const file = `${one}/files/{file_id}`;
  const batch = `${one}/file_batches/{batch_id}`;
  return [
    ...[
      post(root, 'Create a vector store'),
      get(root, 'List vector stores'),
      get(one, 'Read a vector store'),
      post(one, 'Change a vector store'),
      remove(one, 'Delete a vector store'),
      post(`${one}/search`, 'Search a vector store'),
    ],
    ...[
      post(`${one}/files`, 'Add a file to a vector store'),
      get(`${one}/files`, 'List the files of a vector store'),
      get(file, 'Read a file of a vector store'),
      post(file, 'Change the attributes of a file of a vector store'),
      remove(file, 'Remove a file from a vector store'),
      get(`${file}/content`, 'Read the content of a file of a vector store'),
    ],
    ...[
      post(`${one}/file_batches`, 'Add several files to a vector store'),
      get(batch, 'Read a batch of files of a vector store'),
      post(`${batch}/cancel`, 'Cancel a batch of files of a vector store'),
      get(`${batch}/files`, 'List the files of a batch of a vector store'),
    ],
  ];
}

function stored(
  row: Pick<Endpoint, 'id' | 'title' | 'group' | 'description' | 'operations'>,
  file: string,
): Endpoint {
  return {
    ...row,
    body: 'opaque',
    usage: null,
    usageInStreams: 'always',
    source: openAiClient(file),
  };
}
