import { inHeader, signedBy } from '../auth-scheme.js';
import { API_VERSION, azureAi, azureOpenAi, DEPLOYMENT_ID } from '../dialects/azure/index.js';
import type { AccountField, Provider } from '../provider.js';
import {
  HOST_LABEL,
  optional,
  PATH_SEGMENT,
  type ProviderWithCredential,
  required,
  workloadIdentityField,
} from './compatible.js';

const azureVersion = {
  name: API_VERSION,
  title: 'Version of the API',
  pattern: /^(?:v1|preview|\d{4}-\d{2}-\d{2}(?:-preview)?)$/,
};

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
const entraApplication: readonly AccountField[] = [
  required({
    name: 'azure-entra-tenant-id',
    title: 'Entra tenant: its id, or a verified domain',
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?!\.)){0,253}$/,
    example: '8d1f0a7e-1c2b-4d3e-9f4a-5b6c7d8e9f00',
    belongsToKey: true,
  }),
  required({
    name: 'azure-entra-client-id',
    title: 'Id of the application; the key is its client secret',
    pattern: /^[A-Za-z0-9-]{1,64}$/,
    example: '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c',
    belongsToKey: true,
  }),
  optional({
    name: 'azure-entra-scope',
    title: 'Scope to ask for, where it is not that of Azure OpenAI',
    pattern: /^[!-~]{1,512}$/,
    example: 'https://ai.azure.com/.default',
  }),
  workloadIdentityField,
  optional({
    name: 'azure-managed-client-id',
    title: "User-assigned identity, where it is not the machine's own",
    pattern: /^[A-Za-z0-9-]{1,64}$/,
    example: '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c',
    isStoredOnly: true,
  }),
];

/** Azure OpenAI and Azure AI Foundry. */
export const azure: readonly Provider[] = [
  azureOpenAiRow({ id: 'azure-openai', name: 'Azure OpenAI', auth: inHeader('api-key') }),
  azureOpenAiRow({
    id: 'azure-openai-entra',
    name: 'Azure OpenAI, as an application of Entra ID',
    auth: signedBy('azure-entra'),
    fields: entraApplication,
  }),
  {
    id: 'azure-ai',
    name: 'Azure AI Foundry',
    baseUrl: null,
    dialect: azureAi,
    auth: inHeader('api-key'),
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'embeddings',
      'image-generations',
      'image-edits',
      'speech',
      'transcriptions',
      'translations',
      'files',
      'batches',
      'messages',
    ],
    fields: [optional({ ...azureVersion, default: '2024-05-01-preview', example: 'v1' })],
    query: { 'api-version': `{${API_VERSION}}` },
    paths: { withoutQuery: ['/openai/v1'] },
    accountHeaders: [
      { field: 'azure-deployment-name', header: 'azureml-model-deployment' },
      { field: 'azure-extra-params', header: 'extra-parameters' },
      { field: 'anthropic-version', header: 'anthropic-version' },
    ],
    pricesId: 'azure',
    source: 'https://learn.microsoft.com/en-us/azure/ai-foundry/foundry-models/concepts/endpoints',
    unverified:
      "The endpoints depend on the base URL: /models has chat and embeddings, /openai/v1 all of OpenAI's, /anthropic messages.",
  },
];

/** Azure OpenAI, for each kind of credential. */
function azureOpenAiRow({ fields = [], ...row }: ProviderWithCredential): Provider {
  return {
    ...row,
    baseUrl: 'https://{azure-resource-name}.openai.azure.com/openai',
    dialect: azureOpenAi,
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'embeddings',
      'image-generations',
      'image-edits',
      'speech',
      'transcriptions',
      'translations',
      'files',
      'batches',
      'fine-tuning',
      'vector-stores',
      // With a dated version, the client names the deployment itself: /realtime?deployment=…
      'realtime',
      'models',
    ],
    fields: [
      required({
        name: 'azure-resource-name',
        title: 'Azure OpenAI resource',
        pattern: HOST_LABEL,
        example: 'my-resource',
      }),
      required({ ...azureVersion, example: '2024-10-21' }),
      optional({
        name: DEPLOYMENT_ID,
        title: 'Deployment; the model where it is left out',
        pattern: PATH_SEGMENT,
        example: 'gpt-4o-prod',
      }),
      ...fields,
    ],
    // https://github.com/openai/openai-node/blob/master/src/azure.ts
    paths: { atRoot: ['/openai/v1', '/openai'], withoutQuery: ['/openai/v1'] },
    query: { 'api-version': `{${API_VERSION}}` },
    // https://learn.microsoft.com/en-us/answers/questions/2007680/why-is-the-token-usage-event-available-in-the-stre
    streamUsage: { reported: 'on-request', sinceVersion: '2024-09-01' },
    accountHeaders: [{ field: 'openai-beta', header: 'openai-beta' }],
    pricesId: 'azure',
    source: 'https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle',
  };
}
