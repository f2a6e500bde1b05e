import type { OpenAPIObject } from '@nestjs/swagger';
import type { Endpoint, Operation } from '../../providers/endpoint.js';
import { ENDPOINT_IDS } from '../../providers/endpoint.js';
import { endpoints } from '../../providers/endpoints/index.js';
import { providers } from '../../providers/catalog/registry.js';
import { API_KEY_SECURITY } from './security.js';
import { ENDPOINT_DESCRIPTIONS, GATEWAY_SUMMARIES } from './descriptions/gateway-operations.js';
import { GROUPS } from './descriptions/groups.js';

const VIRTUAL_KEY = 'virtual-key';
const PROVIDER = 'provider';
const PROVIDER_KEY = 'provider-key';

const header = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const;

/** The headers that select a provider. */
const SCHEMES = {
  [VIRTUAL_KEY]: header(
    'x-gateway-virtual-key',
    'Slug of a virtual key: stored credentials of a provider, with their limits.',
  ),
  [PROVIDER]: header(
    'x-gateway-provider',
    `Id of a provider, such as openai: one of the ${providers.size} that \`GET /v1/provider-catalog\` lists. \`x-gateway-custom-host\` beside it is the base URL of a private host that speaks its interface.`,
  ),
  [PROVIDER_KEY]: { type: 'http', scheme: 'bearer', description: "The provider's own key." },
} as const;

/** Two ways to select a provider; a config or the model's name are others. */
const WAYS = [[VIRTUAL_KEY], [PROVIDER, PROVIDER_KEY]];
const SECURITY = WAYS.map((way) =>
  Object.fromEntries([API_KEY_SECURITY, ...way].map((scheme) => [scheme, [] as string[]])),
);

/** The common response of every endpoint, defined once. */
const ANSWER = 'ProviderAnswer';
const REFUSAL = 'GatewayOrProviderRefusal';
const RESPONSES = {
  [ANSWER]: { description: "The provider's response, in the format of the path." },
  [REFUSAL]: {
    description:
      "A refusal. The header `x-gateway-error-source` says whose: `gateway`, with the codes of docs/errors.md, or `provider`, with the provider's own body.",
  },
};

/** Adds the first-class endpoints of the data plane, from the gateway's own table. */
export function addGatewayPaths(document: OpenAPIObject): void {
  const paths = document.paths as Record<string, Record<string, object>>;
  for (const endpoint of [...endpoints].sort(inOrder))
    for (const operation of endpoint.operations) {
      const path = `/v1${operation.path}`;
      const method = operation.method.toLowerCase();
      paths[path] = { [method]: describe(endpoint, operation), ...paths[path] };
    }
  document.components = {
    ...document.components,
    securitySchemes: { ...document.components?.securitySchemes, ...SCHEMES },
    responses: { ...document.components?.responses, ...RESPONSES },
    requestBodies: Object.fromEntries(
      Object.entries(MEDIA).map(([body, type]) => [
        body,
        { content: { [type]: contentOf(body as Endpoint['body']) } },
      ]),
    ),
  };
}

const inOrder = (a: Endpoint, b: Endpoint): number => ENDPOINT_IDS.indexOf(a.id) - ENDPOINT_IDS.indexOf(b.id);

const MEDIA: Readonly<Record<Endpoint['body'], string>> = {
  json: 'application/json',
  form: 'multipart/form-data',
  opaque: '*/*',
};

const describe = (endpoint: Endpoint, { method, path }: Operation): object => {
  const operationId = operationIdOf(method, path);
  return {
    operationId,
    tags: GROUPS.flatMap(({ name, endpoints: ids = [] }) => (ids.includes(endpoint.id) ? [name] : [])),
    summary: GATEWAY_SUMMARIES[operationId] ?? endpoint.title,
    description: ENDPOINT_DESCRIPTIONS[endpoint.id],
    externalDocs: { url: endpoint.source },
    security: SECURITY,
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      description: PATH_PARAMETERS[name],
      required: true,
      schema: { type: 'string' },
    })),
    ...(method === 'POST' && { requestBody: { $ref: `#/components/requestBodies/${endpoint.body}` } }),
    responses: {
      '200': { $ref: `#/components/responses/${ANSWER}` },
      default: { $ref: `#/components/responses/${REFUSAL}` },
    },
  };
};

/** Path segments. Ids are the provider's. */
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Id at the provider.',
  file_id: 'Id of the file at the provider.',
  batch_id: 'Id of the batch at the provider.',
  model: 'Id of the model.',
};

/** Bodies are those of the provider's API; the gateway reads only the model. */
const contentOf = (body: Endpoint['body']): object => {
  if (body === 'opaque') return {};
  const model = {
    type: 'string',
    description:
      'Model to use: its id at the provider, an alias, or `@virtual-key/model`. Other fields are those of the API of the path.',
    example: 'sandbox-1',
  };
  return { schema: { type: 'object', properties: { model }, additionalProperties: true } };
};

/** `POST /chat/completions` becomes `postChatCompletions`. */
const operationIdOf = (method: string, path: string): string =>
  [method.toLowerCase(), ...path.split(/[^A-Za-z0-9]+/).filter(Boolean)]
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
