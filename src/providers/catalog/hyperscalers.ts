import { inHeader, signedBy, WORKLOAD_IDENTITY } from '../auth-scheme.js';
import { anthropic } from '../dialects/anthropic/index.js';
import { API_VERSION, azureAi, azureOpenAi, DEPLOYMENT_ID } from '../dialects/azure/index.js';
import { bedrock } from '../dialects/bedrock/index.js';
import { vertex } from '../dialects/gemini/index.js';
import { own } from '../dialects/untranslated.js';
import type { AccountField, Provider } from '../provider.js';
import { compatible, HOST_LABEL, messageBatchLinks, optional, PATH_SEGMENT, required } from './compatible.js';

/** https://docs.aws.amazon.com/general/latest/gr/rande.html: `us-east-1`, `us-gov-west-1`, `eu-isoe-west-1`. */
const awsRegion = optional({
  name: 'aws-region',
  title: 'AWS region',
  default: 'us-east-1',
  pattern: /^[a-z]{2,3}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/,
  example: 'eu-central-1',
});

/** https://docs.aws.amazon.com/IAM/latest/APIReference/API_AccessKey.html */
const awsAccessKeyId = {
  name: 'aws-access-key-id',
  title: 'AWS access key id; the secret access key is the key itself',
  // The documented minimum is 16; servers for tests accept shorter ones: https://docs.localstack.cloud/aws/capabilities/config/credentials/
  pattern: /^\w{1,128}$/,
  example: 'AKIAIOSFODNN7EXAMPLE',
  belongsToKey: true,
} as const;

/** An operator allows it for an organization: docs/workload-identity.md. */
const workloadIdentity = optional({
  name: WORKLOAD_IDENTITY,
  title: 'Whether the identity of the machine replaces the key',
  pattern: /^enabled$/,
  example: 'enabled',
  isStoredOnly: true,
});

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
const awsRole: readonly AccountField[] = [
  optional({
    name: 'aws-role-arn',
    title: 'AWS role to assume',
    pattern: /^arn:aws[a-z-]{0,16}:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
    example: 'arn:aws:iam::123456789012:role/gateway',
  }),
  optional({
    name: 'aws-external-id',
    title: 'External id of that role',
    pattern: /^[\w+=,.@:/-]{2,1224}$/,
    example: 'customer-4711',
  }),
  workloadIdentity,
];

/**
 * An id or a number, of older projects after a domain; emulators accept any word.
 * https://cloud.google.com/resource-manager/docs/creating-managing-projects
 */
const vertexProject = required({
  name: 'vertex-project-id',
  title: 'Google Cloud project',
  pattern: /^(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}:)?[a-z0-9][a-z0-9-]{0,62}$/,
  example: 'my-project-4711',
});

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
  workloadIdentity,
  optional({
    name: 'azure-managed-client-id',
    title: "User-assigned identity, where it is not the machine's own",
    pattern: /^[A-Za-z0-9-]{1,64}$/,
    example: '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c',
    isStoredOnly: true,
  }),
];

/** The three large clouds. */
export const hyperscalers: readonly Provider[] = [
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
  {
    id: 'bedrock',
    name: 'Amazon Bedrock',
    baseUrl: 'https://bedrock-runtime.{aws-region}.amazonaws.com',
    dialect: bedrock,
    auth: signedBy('aws-sigv4'),
    endpoints: [],
    fields: [
      awsRegion,
      optional({
        ...awsAccessKeyId,
        title: `${awsAccessKeyId.title}. Without it the key is an API key of Bedrock`,
      }),
      ...awsRole,
    ],
    pricesId: 'aws',
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
  },
  compatible({
    id: 'bedrock-mantle',
    name: 'Amazon Bedrock, OpenAI-compatible',
    // Some models are served below /openai/v1 of this host instead.
    baseUrl: 'https://bedrock-mantle.{aws-region}.api.aws/v1',
    endpoints: ['chat-completions', 'responses'],
    fields: [awsRegion],
    pricesId: 'aws',
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html',
  }),
  claudeOnAws({ id: 'claude-platform-aws', name: 'Claude Platform on AWS', auth: inHeader('x-api-key') }),
  claudeOnAws({
    id: 'claude-platform-aws-iam',
    name: 'Claude Platform on AWS, with keys of AWS',
    auth: signedBy('aws-sigv4'),
    fields: [required(awsAccessKeyId), ...awsRole],
  }),
  {
    id: 'sagemaker',
    name: 'Amazon SageMaker',
    baseUrl: 'https://runtime.sagemaker.{aws-region}.amazonaws.com',
    dialect: own,
    auth: signedBy('aws-sigv4'),
    endpoints: [],
    fields: [awsRegion, required(awsAccessKeyId), ...awsRole],
    accountHeaders: [
      'custom-attributes',
      'target-model',
      'target-variant',
      'target-container-hostname',
      'inference-id',
      'enable-explanations',
      'inference-component',
      'session-id',
    ].map((name) => ({ field: `amzn-sagemaker-${name}`, header: `x-amzn-sagemaker-${name}` })),
    pricesId: null,
    source: 'https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html',
  },
  {
    id: 'vertex-ai',
    name: 'Google Vertex AI, in a region',
    baseUrl:
      'https://{vertex-region}-aiplatform.googleapis.com/v1/projects/{vertex-project-id}/locations/{vertex-region}',
    hostPath: '/v1/projects/{vertex-project-id}/locations/{vertex-region}',
    dialect: vertex,
    auth: signedBy('google-service-account'),
    endpoints: ['generate-content', 'embed-content'],
    fields: [
      vertexProject,
      required({
        name: 'vertex-region',
        title: 'Google Cloud region',
        // The global endpoint has a host without a region: it is another row.
        pattern: /^[a-z]{2,12}-[a-z]{2,12}\d{1,2}$/,
        example: 'europe-west4',
      }),
      workloadIdentity,
    ],
    pricesId: 'google',
    source: 'https://docs.cloud.google.com/vertex-ai/docs/generative-ai/learn/locations',
  },
  {
    id: 'vertex-ai-global',
    name: 'Google Vertex AI, global endpoint',
    baseUrl: 'https://aiplatform.googleapis.com/v1/projects/{vertex-project-id}/locations/global',
    hostPath: '/v1/projects/{vertex-project-id}/locations/global',
    dialect: vertex,
    auth: signedBy('google-service-account'),
    endpoints: ['generate-content', 'embed-content'],
    fields: [vertexProject, workloadIdentity],
    pricesId: 'google',
    source: 'https://docs.cloud.google.com/vertex-ai/docs/generative-ai/learn/locations',
  },
];

type Proven = Pick<Provider, 'id' | 'name' | 'auth' | 'fields'>;

/** Anthropic's own API in AWS, for each kind of credential. Every request names a workspace. */
function claudeOnAws({ fields = [], ...row }: Proven): Provider {
  return {
    ...row,
    baseUrl: 'https://aws-external-anthropic.{aws-region}.api.aws/v1',
    dialect: anthropic,
    endpoints: ['messages', 'count-tokens', 'files', 'models'],
    links: messageBatchLinks,
    fields: [awsRegion, ...fields],
    accountHeaders: ['anthropic-workspace-id', 'anthropic-version', 'anthropic-beta'].map((name) => ({
      field: name,
      header: name,
    })),
    pricesId: 'anthropic',
    source: 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/packages/aws-sdk/src/client.ts',
  };
}

/** Azure OpenAI, for each kind of credential. */
function azureOpenAiRow({ fields = [], ...row }: Proven): Provider {
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
