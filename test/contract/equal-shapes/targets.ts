import type { EndpointId } from '../../../src/providers/endpoint.js';
import type { Provider } from '../../../src/providers/provider.js';

/** Endpoints that a dated version of Azure OpenAI has per deployment. */
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

type Where = (path: string, endpoint: EndpointId, model: string) => string;

const azure: Where = (path, endpoint, model) =>
  DEPLOYED.has(endpoint) ? `/deployments/${model}${path}` : path;
const vertex: Where = (path) => (path.startsWith('/models/') ? `/publishers/google${path}` : path);

/** Providers whose paths differ from the client's, written by hand. */
const WHERE: Readonly<Record<string, Where>> = {
  'azure-openai': azure,
  'azure-openai-entra': azure,
  'azure-ai': (path, endpoint) => (endpoint === 'messages' ? `/v1${path}` : path),
  'vertex-ai': vertex,
  'vertex-ai-global': vertex,
  cohere: (path, endpoint) => (endpoint === 'rerank' ? path.replace('/rerank', '/v1/rerank') : path),
  ollama: (path) => `/v1${path}`,
};

/** Query parameters that the account adds after the client's. */
const ADDED: Readonly<Record<string, string>> = {
  'azure-openai': 'api-version=2024-10-21',
  'azure-openai-entra': 'api-version=2024-10-21',
  'azure-ai': 'api-version=2024-05-01-preview',
};

/** A call of a model in Google's format. The client's version is Google's: it stays as the client wrote it, below `/v1`. */
const GOOGLE_CALL = /^\/models\/[^/?]+:\w+(?:$|\?)/;

/** The request target that the provider must receive for the client's path and query. */
export function targetOf(
  provider: Provider,
  endpoint: EndpointId,
  path: string,
  model: string,
  { isEndpoint = true } = {},
): string {
  const mapped = (isEndpoint && WHERE[provider.id]?.(path, endpoint, model)) || path;
  const added = ADDED[provider.id];
  const query = added === undefined ? '' : `${mapped.includes('?') ? '&' : '?'}${added}`;
  const base =
    isEndpoint && provider.id === 'google' && GOOGLE_CALL.test(path) ? '/v1' : basePathOf(provider);
  return base + mapped + query;
}

export function basePathOf({ baseUrl, fields = [] }: Provider): string {
  const filled = (baseUrl ?? 'https://models.example/base').replaceAll(
    /\{([a-z0-9-]+)\}/g,
    (_, name: string) => {
      const field = fields.find((one) => one.name === name);
      return field?.default ?? field?.example ?? '';
    },
  );
  return new URL(filled).pathname.replace(/\/$/, '');
}
