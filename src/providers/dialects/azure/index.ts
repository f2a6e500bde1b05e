import { AppError } from '../../../common/errors/app-error.js';
import type { Dialect, NativeCall } from '../../dialect.js';
import type { EndpointId } from '../../endpoint.js';

/** Field with the version of Azure's API: a date, or `v1` for the undated one. */
export const API_VERSION = 'azure-api-version';
/** Field with the deployment. Without it, the model is the deployment. */
export const DEPLOYMENT_ID = 'azure-deployment-id';

/**
 * OpenAI's format with deployments in the path, below `https://<resource>.openai.azure.com/openai`. A dated version has
 * `/deployments/<deployment>/chat/completions?api-version=<date>`; `v1` has OpenAI's own paths below `/v1`, and takes the deployment from
 * the model in the body. https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle
 *
 * Its `pathOf` throws `AppError('invalid_request')` when a deployment is needed and neither field nor model names one.
 */
export const azureOpenAi: Dialect = {
  id: 'azure-openai',
  pathOf: (call) => {
    if (!isDated(call.fields[API_VERSION])) return `/v1${call.path}`;
    return DEPLOYED.has(call.endpoint) ? `/deployments/${deploymentOf(call)}${call.path}` : call.path;
  },
};

/**
 * A Foundry resource at the account's address: `https://<resource>.services.ai.azure.com/models` or `…/openai/v1` for OpenAI's format,
 * `…/anthropic` for Claude, whose paths begin with `/v1`.
 * https://learn.microsoft.com/en-us/azure/ai-foundry/foundry-models/concepts/endpoints
 * https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry
 */
export const azureAi: Dialect = {
  id: 'azure-ai',
  pathOf: ({ endpoint, path }) => (ANTHROPICS.has(endpoint) ? `/v1${path}` : path),
};

/** Endpoints of a deployment in a dated version. Files, batches, responses and the rest belong to the resource. */
const DEPLOYED: ReadonlySet<EndpointId> = new Set<EndpointId>([
  'chat-completions',
  'completions',
  'embeddings',
  'image-generations',
  'image-edits',
  'speech',
  'transcriptions',
  'translations',
]);

const ANTHROPICS: ReadonlySet<EndpointId> = new Set<EndpointId>(['messages', 'count-tokens']);

const isDated = (version = ''): boolean => /^\d{4}-/.test(version);

/** One path segment that cannot be read as "..": the model comes from the client. */
const DEPLOYMENT = /^(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,64}$/;

function deploymentOf({ fields, model }: NativeCall): string {
  const deployment = fields[DEPLOYMENT_ID] ?? model;
  if (DEPLOYMENT.test(deployment)) return deployment;
  throw new AppError('invalid_request', {
    detail: `Azure OpenAI needs the name of a deployment: in the field "${DEPLOYMENT_ID}", or as the model.`,
  });
}
