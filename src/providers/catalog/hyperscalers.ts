import { inHeader, signedBy } from '../auth-scheme.js';
import { anthropic } from '../dialects/anthropic/index.js';
import { bedrock } from '../dialects/bedrock/index.js';
import { vertex } from '../dialects/gemini/index.js';
import { own } from '../dialects/untranslated.js';
import type { AccountField, Provider } from '../provider.js';
import { azure } from './azure.js';
import {
  compatible,
  messageBatchLinks,
  optional,
  type ProviderWithCredential,
  required,
  workloadIdentityField,
} from './compatible.js';

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
  workloadIdentityField,
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

/** The three large clouds. */
export const hyperscalers: readonly Provider[] = [
  ...azure,
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
      workloadIdentityField,
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
    fields: [vertexProject, workloadIdentityField],
    pricesId: 'google',
    source: 'https://docs.cloud.google.com/vertex-ai/docs/generative-ai/learn/locations',
  },
];

/** Anthropic's own API in AWS, for each kind of credential. Every request names a workspace. */
function claudeOnAws({ fields = [], ...row }: ProviderWithCredential): Provider {
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
