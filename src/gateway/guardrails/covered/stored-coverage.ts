import { get, post, remove } from '../../../providers/endpoints/table/operation.js';
import { ENDPOINT_TEXTS } from '../texts/endpoint-texts.js';
import type { EndpointTexts } from '../texts/text-tree.js';
import type { OperationCoverage } from './coverage-row.js';
import {
  untypedObjects,
  asynchronousChat,
  batches,
  batchOutput,
  conversations,
  evaluations,
  storedFileTexts,
  messageBatchResults,
  storedChat,
  storedChatMessages,
  storedItems,
  threads,
} from './stored-texts.js';

const OPENAI = 'https://platform.openai.com/docs/api-reference';

const read = (texts: EndpointTexts) => ({ request: 'unread', answer: 'read', texts }) as const;
const searched = { request: 'unread', answer: 'searched', texts: untypedObjects } as const;
const metadata = { request: 'unread', answer: 'metadata' } as const;
const media = { request: 'unread', answer: 'media' } as const;

const responses = ENDPOINT_TEXTS.responses as EndpointTexts;
const interactions = ENDPOINT_TEXTS.interactions as EndpointTexts;

/**
 * Ways to a response besides the request that made it, and further paths whose responses are known. Every path that is neither here nor at a
 * first-class endpoint is `unread`.
 */
export const storedCoverage: readonly OperationCoverage[] = [
  {
    title: 'stored chat completions',
    operations: [
      get('/chat/completions'),
      get('/chat/completions/{id}'),
      post('/chat/completions/{id}'),
      get('/chat/deferred-completion/{id}'),
    ],
    ...read(storedChat),
    source: `${OPENAI}/chat/list and https://docs.x.ai/docs/guides/deferred-chat-completions`,
  },
  {
    title: 'messages of stored chat completions',
    operations: [get('/chat/completions/{id}/messages')],
    ...read(storedChatMessages),
    source: `${OPENAI}/chat/getMessages`,
  },
  {
    title: 'asynchronous chat completions',
    operations: [
      post('/async/chat/completions'),
      get('/async/chat/completions'),
      get('/async/chat/completions/{id}'),
      post('/async/sonar'),
      get('/async/sonar'),
      get('/async/sonar/{id}'),
    ],
    ...read(asynchronousChat),
    source: 'https://docs.perplexity.ai/api-reference/async-sonar-api-request-get',
  },
  {
    title: 'stored responses',
    operations: [get('/responses/{id}'), post('/responses/{id}/cancel')],
    ...read(responses),
    resumedBy: ['starting_after'],
    source: `${OPENAI}/responses/get`,
  },
  {
    title: 'inputs of stored responses',
    operations: [get('/responses/{id}/input_items')],
    ...read(storedItems),
    source: `${OPENAI}/responses/input-items`,
  },
  {
    title: 'conversations',
    operations: [
      ...[post('/conversations'), get('/conversations')],
      ...[get('/conversations/{id}'), post('/conversations/{id}'), remove('/conversations/{id}')],
      ...[get('/conversations/{id}/items'), post('/conversations/{id}/items')],
      ...[get('/conversations/{id}/items/{item}'), remove('/conversations/{id}/items/{item}')],
      ...[get('/conversations/{id}/history'), get('/conversations/{id}/messages')],
      post('/conversations/{id}/restart'),
    ],
    ...read(conversations),
    source: `${OPENAI}/conversations and https://docs.mistral.ai/api/endpoint/beta/conversations`,
  },
  {
    title: 'threads of assistants',
    operations: [
      ...[post('/threads'), get('/threads/{id}'), post('/threads/{id}')],
      ...[get('/threads/{id}/messages'), post('/threads/{id}/messages')],
      ...[get('/threads/{id}/messages/{message}'), post('/threads/{id}/messages/{message}')],
      ...[post('/threads/runs'), get('/threads/{id}/runs'), post('/threads/{id}/runs')],
      ...[get('/threads/{id}/runs/{run}'), post('/threads/{id}/runs/{run}')],
      post('/threads/{id}/runs/{run}/submit_tool_outputs'),
      post('/threads/{id}/runs/{run}/cancel'),
      ...[get('/threads/{id}/runs/{run}/steps'), get('/threads/{id}/runs/{run}/steps/{step}')],
    ],
    ...read(threads),
    source: `${OPENAI}/threads`,
  },
  {
    title: 'results of evaluations',
    operations: [
      get('/evals/{id}/runs/{run}/output_items'),
      get('/evals/{id}/runs/{run}/output_items/{item}'),
    ],
    ...read(evaluations),
    source: `${OPENAI}/evals/run-output-item-object`,
  },
  {
    title: "Google's stored interactions",
    operations: [get('/interactions/{id}'), post('/interactions/{id}/cancel'), remove('/interactions/{id}')],
    ...read(interactions),
    resumedBy: ['last_event_id'],
    source: 'https://ai.google.dev/api/interactions-api',
  },
  {
    title: 'batches',
    operations: [post('/batches'), get('/batches'), get('/batches/{id}'), post('/batches/{id}/cancel')],
    ...({ request: 'file', answer: 'searched', texts: batches } as const),
    source: 'https://ai.google.dev/api/batch-api',
  },
  {
    title: 'outputs of batches',
    operations: [get('/batches/{id}/output')],
    ...read(batchOutput),
    isListing: true,
    source: 'https://platform.openai.com/docs/guides/batch',
  },
  {
    title: 'results of message batches',
    operations: [get('/messages/batches/{id}/results')],
    ...read(messageBatchResults),
    isListing: true,
    source: 'https://docs.claude.com/en/api/retrieving-message-batch-results',
  },
  {
    title: 'contents of files',
    operations: [get('/files/{id}/content'), get('/containers/{id}/files/{file}/content')],
    ...read(storedFileTexts),
    isListing: true,
    source: `${OPENAI}/files/retrieve-contents and ${OPENAI}/container-files/retrieveContainerFileContent`,
  },
  {
    title: 'instructions, definitions and long operations',
    operations: [
      ...[get('/assistants'), get('/assistants/{id}'), remove('/assistants/{id}')],
      ...[get('/evals'), get('/evals/{id}'), get('/evals/{id}/runs'), get('/evals/{id}/runs/{run}')],
      ...[get('/videos'), get('/videos/{id}'), remove('/videos/{id}')],
      ...[get('/agents'), get('/agents/{id}'), get('/batch/jobs'), get('/batch/jobs/{id}')],
      get('/models/{id}/operations/{operation}'),
    ],
    ...searched,
    source: `${OPENAI}/assistants, ${OPENAI}/videos, https://docs.mistral.ai/api and https://ai.google.dev/api`,
  },
  {
    title: 'videos',
    operations: [get('/videos/{id}/content')],
    ...media,
    source: `${OPENAI}/videos/content`,
  },
  {
    title: 'descriptions of files, batches and containers, deletions, accounts',
    operations: [
      ...[remove('/chat/completions/{id}'), remove('/responses/{id}'), post('/responses/input_tokens')],
      ...[remove('/threads/{id}'), remove('/threads/{id}/messages/{message}')],
      ...[
        post('/messages/batches'),
        get('/messages/batches'),
        get('/messages/batches/{id}'),
        remove('/messages/batches/{id}'),
      ],
      post('/messages/batches/{id}/cancel'),
      ...[get('/containers'), get('/containers/{id}'), remove('/containers/{id}')],
      ...[get('/containers/{id}/files'), get('/containers/{id}/files/{file}')],
      remove('/containers/{id}/files/{file}'),
      ...[get('/cachedContents'), get('/cachedContents/{id}'), remove('/cachedContents/{id}')],
      ...[get('/key'), get('/credits'), get('/auth/key'), get('/generation')],
      get('/models/{author}/{model}/endpoints'),
    ],
    ...metadata,
    source: `${OPENAI}, https://docs.claude.com/en/api, https://ai.google.dev/api/caching and https://openrouter.ai/docs/api-reference`,
  },
];
