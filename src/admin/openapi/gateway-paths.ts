import type { OpenAPIObject } from '@nestjs/swagger';
import type { Endpoint, Operation } from '../../providers/endpoint.js';
import { ENDPOINT_IDS } from '../../providers/endpoint.js';
import { endpoints } from '../../providers/endpoints/index.js';
import { providers } from '../../providers/registry.js';
import { API_KEY_SECURITY } from '../admin-controller.js';

const VIRTUAL_KEY = 'virtual-key';
const PROVIDER = 'provider';
const PROVIDER_KEY = 'provider-key';
const CUSTOM_HOST = 'custom-host';

const header = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const;

/** The headers that choose a provider. */
const SCHEMES = {
  [VIRTUAL_KEY]: header(
    'x-gateway-virtual-key',
    'Slug of a virtual key: stored credentials of a provider, with their limits.',
  ),
  [PROVIDER]: header(
    'x-gateway-provider',
    `Id of a provider, such as openai: one of the ${providers.size} in docs/providers.md.`,
  ),
  [PROVIDER_KEY]: { type: 'http', scheme: 'bearer', description: "The provider's own key." },
  [CUSTOM_HOST]: header(
    'x-gateway-custom-host',
    "Base URL of a private host that speaks the provider's interface.",
  ),
} as const;

/** The three ways to choose a provider. */
const WAYS = [[VIRTUAL_KEY], [PROVIDER, PROVIDER_KEY], [PROVIDER, PROVIDER_KEY, CUSTOM_HOST]];
const SECURITY = WAYS.map((way) =>
  Object.fromEntries([API_KEY_SECURITY, ...way].map((scheme) => [scheme, [] as string[]])),
);

const TAG = 'Gateway';
const DESCRIPTION = `Requests to providers. Choose a provider in one of three ways: a virtual key; a provider and its key; or these two and a host of
your own. A routing config, or a model named \`@virtual-key/model\`, can choose instead. Bodies are those of the provider's own documentation. Every other
path below \`/v1\` passes through to the provider as it is.`;

/** Adds the first-class endpoints of the data plane, from the table that the gateway serves them by. */
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
  };
  document.tags = [{ name: TAG, description: DESCRIPTION }, ...(document.tags ?? [])];
}

const inOrder = (a: Endpoint, b: Endpoint): number => ENDPOINT_IDS.indexOf(a.id) - ENDPOINT_IDS.indexOf(b.id);

const MEDIA: Readonly<Record<Endpoint['body'], string>> = {
  json: 'application/json',
  form: 'multipart/form-data',
  opaque: '*/*',
};

const describe = ({ title, body, source }: Endpoint, { method, path }: Operation): object => ({
  operationId: operationIdOf(method, path),
  tags: [TAG],
  summary: `${title[0]?.toUpperCase()}${title.slice(1)}`,
  externalDocs: { url: source },
  security: SECURITY,
  parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
  ...(method === 'POST' && { requestBody: { content: { [MEDIA[body]]: contentOf(body) } } }),
  responses: {
    '200': { description: "The provider's answer, in the format that the path has." },
    default: {
      description:
        "A refusal: the gateway's own, or the provider's, as the header `x-gateway-error-source` says.",
    },
  },
});

const contentOf = (body: Endpoint['body']): object => {
  if (body === 'opaque') return {};
  const model = { type: 'string', example: 'sandbox-1' };
  return { schema: { type: 'object', properties: { model }, additionalProperties: true } };
};

/** `POST /chat/completions` becomes `postChatCompletions`. */
const operationIdOf = (method: string, path: string): string =>
  [method.toLowerCase(), ...path.split(/[^A-Za-z0-9]+/).filter(Boolean)]
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
