import type { OpenAPIObject } from '@nestjs/swagger';
import type { Endpoint, EndpointOperation } from '../../providers/endpoint.js';
import { ENDPOINT_IDS } from '../../providers/endpoint.js';
import { endpoints } from '../../providers/endpoints/index.js';
import { providers } from '../../providers/catalog/registry.js';
import { GROUPS } from './groups.js';

/** Name of the API key in the document. */
export const API_KEY_SECURITY = 'gateway-api-key';
const PROVIDER_KEY = 'provider-key';
const SCHEMES = {
  [PROVIDER_KEY]: {
    type: 'http',
    scheme: 'bearer',
    description: "The provider's own key, for a provider that is named by `x-gateway-provider`.",
  },
} as const;

/** Stored credentials need no key of the provider. */
const SECURITY = [{ [API_KEY_SECURITY]: [] }, { [API_KEY_SECURITY]: [], [PROVIDER_KEY]: [] }];

/** The headers that an interactive page offers, with the value that it fills in. docs/requests.md has the others. */
const HEADERS: readonly { readonly name: string; readonly description: string; readonly example?: string }[] =
  [
    {
      name: 'x-gateway-provider',
      description: `Id of a provider: one of the ${providers.size} that \`GET /v1/provider-catalog\` lists. All but \`sandbox\` need their key in \`Authorization\`. Leave it out if a virtual key, a config or the model names the target.`,
      example: 'sandbox',
    },
    {
      name: 'x-gateway-virtual-key',
      description: 'Slug of a virtual key: stored credentials of a provider, with their limits.',
    },
    {
      name: 'x-gateway-config',
      description: 'Slug or id of a routing config, or the document itself as JSON.',
    },
    {
      name: 'x-gateway-custom-host',
      description:
        'Base URL of a private host that speaks the interface of the provider. Only beside `x-gateway-provider`.',
    },
    { name: 'x-gateway-trace-id', description: 'Id that joins several requests in the request log.' },
    {
      name: 'x-gateway-metadata',
      description:
        'JSON object of labels for filters, analytics and conditions, such as `{"team":"checkout"}`.',
    },
  ];
const HEADERS_BY_NAME = Object.fromEntries(
  HEADERS.map(({ name, ...rest }) => [name, { name, in: 'header', schema: { type: 'string' }, ...rest }]),
);
const HEADER_REFERENCES = HEADERS.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }));

/** The common response of every endpoint, defined once. */
const ANSWER = 'ProviderAnswer';
const REFUSAL = 'GatewayOrProviderRefusal';
const RESPONSES = {
  [ANSWER]: { description: "The provider's response, in the format of the path." },
  [REFUSAL]: {
    description:
      "A refusal. The header `x-gateway-error-source` says whose: `gateway`, with a code that the schema `RefusalDetailDto` lists, or `provider`, with the provider's own body.",
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
    parameters: { ...document.components?.parameters, ...HEADERS_BY_NAME } as NonNullable<
      OpenAPIObject['components']
    >['parameters'],
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

const describe = (endpoint: Endpoint, { method, path, summary }: EndpointOperation): object => {
  return {
    operationId: operationIdOf(method, path),
    tags: [GROUPS[endpoint.group].name],
    summary,
    description: endpoint.description,
    externalDocs: { url: endpoint.source },
    security: SECURITY,
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
        name,
        in: 'path',
        description: PATH_PARAMETERS[name],
        required: true,
        schema: { type: 'string' },
      })),
      ...HEADER_REFERENCES,
    ],
    ...(method === 'POST' && { requestBody: bodyOf(endpoint) }),
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

function bodyOf({ example, body }: Endpoint): object {
  return example
    ? { content: { [MEDIA[body]]: { ...contentOf(body), example } } }
    : { $ref: `#/components/requestBodies/${body}` };
}

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
