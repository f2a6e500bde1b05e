import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { AppError } from '../../common/errors/app-error.js';
import { loadSettings } from '../../common/settings/settings.js';
import { Egress } from '../../egress/egress.js';
import { catalog } from '../../providers/catalog/index.js';
import { endpoints, findEndpointRow } from '../../providers/endpoints/index.js';
import type { EndpointOperation } from '../../providers/endpoint.js';
import type { Provider } from '../../providers/provider.js';
import { supportOf } from '../../providers/support.js';
import { Planner } from '../planning/planner.js';
import { readGatewayHeaders } from '../types/gateway-headers.js';
import { DEFAULT_PLAN } from '../types/plan.js';
import { requestPath } from '../types/request-path.js';
import type { Target } from '../types/target.js';
import { outgoing } from './outgoing.js';

const HOST = 'https://models.example';
const rows = catalog.flatMap((group) => group.rows).filter(({ inProcess }) => !inProcess);
const settings = loadSettings({});
const planner = new Planner(
  { find: () => null, credentialRefused: () => undefined },
  new Egress({ allow: settings.egressAllow, timeouts: settings.timeouts }),
  { find: () => [] },
);

/** A body that every client format and every dialect can read. */
const BODY = {
  messages: [{ role: 'user', content: 'Hi' }],
  max_tokens: 9,
  input: 'Hi',
  prompt: 'Hi',
  voice: 'alloy',
  query: 'Hi',
  documents: ['Hi'],
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
};
/** A model by the rules of the providers that have some. */
const MODELS: Readonly<Record<string, string>> = {
  bedrock: 'amazon.nova-lite-v1:0',
  'stability-ai': 'stable-image-core',
};

const accountHeaders = ({ fields = [] }: Provider, without: readonly string[] = []) =>
  Object.fromEntries(
    fields
      .filter(({ name, isRequired }) => isRequired && !without.includes(name))
      .map(({ name, example }) => [`x-gateway-${name}`, example]),
  );

interface CustomHostCall {
  readonly method: string;
  readonly path: string;
  readonly host: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The path and query at the provider; null if its dialect refuses the request. */
async function sentPath(
  row: Provider,
  { method, path, host, headers = accountHeaders(row) }: CustomHostCall,
): Promise<string | null> {
  const all = {
    ...headers,
    'x-gateway-provider': row.id,
    ...(host !== null && { 'x-gateway-custom-host': host }),
  };
  const requested = requestPath(path);
  const endpoint = findEndpointRow(method, requested.path);
  const model = MODELS[row.id] ?? 'm';
  const json = { ...BODY, model };
  try {
    const options = readGatewayHeaders(all);
    const given = {
      caller: aCaller(),
      headers: all,
      options,
      modelSlug: null,
      planned: DEFAULT_PLAN,
      path: requested,
    };
    const target: Target = await planner.plan(given);
    const content = {
      path: requested,
      body: Buffer.from(JSON.stringify(json)),
      json,
      model,
      isStreamed: false,
    };
    const facts = { id: 'id', createdAt: 0, gatewayKey: 'gw', options, endpoint };
    const request = { method, headers: all, rawHeaders: [] };
    return outgoing({ request, content, planned: DEFAULT_PLAN, target, facts }).wire.path;
  } catch (error) {
    if (error instanceof AppError && error.code !== 'internal_error') return null;
    throw error;
  }
}

const pathOf = ({ path }: EndpointOperation): string => `/v1${path.replaceAll(/\{\w+\}/g, 'm')}`;
const operations = endpoints
  .filter(({ body }) => body === 'json')
  .flatMap((endpoint) => endpoint.operations.map((operation) => ({ endpoint: endpoint.id, operation })));

const filled = ({ fields = [] }: Provider, text: string): string =>
  text.replaceAll(/\{([a-z0-9-]+)\}/g, (_, name: string) => {
    const field = fields.find((each) => each.name === name);
    return field?.default ?? field?.example ?? '?';
  });
const basePathOf = (row: Provider): string =>
  row.baseUrl === null ? '' : new URL(filled(row, row.baseUrl)).pathname.replace(/\/$/, '');

const VERSION = /^\/v\d+(?:alpha|beta)?(?=\/)/;

/** All of its paths pass through. */
const isUnread = ({ endpoints: native, dialect }: Provider): boolean =>
  native.length === 0 && Object.keys(dialect.translators ?? {}).length === 0;

describe.each(rows)('a custom host of $id', (row) => {
  it('leads every endpoint to the path of the catalogue, with one version', async () => {
    const base = basePathOf(row);
    let cells = 0;
    for (const { endpoint, operation } of operations) {
      const path = pathOf(operation);
      const written = path.slice('/v1'.length);
      const at = (host: string | null) => sentPath(row, { method: operation.method, path, host });
      const listed = await at(row.baseUrl === null ? HOST : null);
      // Those that a provider has beside its base URL are sent to a custom host as the client wrote them.
      if (listed === null || !listed.startsWith(base)) continue;
      const isAtRoot = row.paths?.atRoot?.some((beginning) => written.startsWith(`${beginning}/`)) === true;
      const below = isAtRoot ? listed : listed.slice(base.length);
      const hasVersion = isAtRoot || VERSION.test(below);
      // A path that the provider is not known to have is sent as written.
      const isAsWritten =
        !isAtRoot && supportOf(row, endpoint) === null && VERSION.test(written) && below.startsWith(written);
      const bare = hasVersion ? below : filled(row, row.hostPath ?? '') + below;
      const versioned = hasVersion && !isAsWritten ? below : `/v1${below}`;
      const expected: readonly (readonly [string, string])[] = [
        ['', bare],
        ['/', bare],
        [base, listed],
        [`${base}/`, listed],
        ['/proxy', `/proxy${bare}`],
        ['/proxy/v1', `/proxy${versioned}`],
        ['/v1', versioned],
      ];
      for (const [ending, upstream] of expected) {
        expect(await at(HOST + ending), `${path} at ${HOST}${ending}`).toBe(upstream);
        cells += 1;
      }
    }
    expect(cells > 0 || isUnread(row)).toBe(true);
  });
});

const rowOf = (id: string): Provider => rows.find((row) => row.id === id) as Provider;

describe('a path below a custom host', () => {
  it.each([
    // The version is in front of the endpoint: https://ai.google.dev/api
    ['google', '', '/v1/chat/completions', '/v1beta/models/m:generateContent'],
    ['google', '/v1beta', '/v1/chat/completions', '/v1beta/models/m:generateContent'],
    ['google', '/v1', '/v1/chat/completions', '/v1/models/m:generateContent'],
    ['google', '', '/v1/models/g:generateContent', '/v1/models/g:generateContent'],
    ['google', '', '/v1alpha/models/g:generateContent', '/v1alpha/models/g:generateContent'],
    ['google', '', '/v1/cachedContents', '/v1beta/cachedContents'],
    ['google', '', '/v1/proxy/cachedContents', '/cachedContents'],
    ['cohere', '', '/v1/rerank', '/v1/rerank'],
    ['cohere', '/v1', '/v1/rerank', '/v1/rerank'],
    ['cohere', '/v2', '/v1/rerank', '/v1/rerank'],
    ['cohere', '/v2', '/v1/v2/rerank', '/v2/rerank'],
    ['cohere', '/v2/', '/v1/chat/completions', '/v2/chat'],
    ['cohere', '/v1', '/v1/v2/embed', '/v2/embed'],
    ['cohere', '/v2', '/v1/v1/embed-jobs', '/v1/embed-jobs'],
    ['ollama', '', '/v1/chat/completions', '/v1/chat/completions'],
    ['ollama', '/v1', '/v1/chat/completions', '/v1/chat/completions'],
    ['ollama', '/v1', '/v1/api/tags', '/api/tags'],
    ['groq', '', '/v1/openai/v1/chat/completions', '/openai/v1/chat/completions'],
    ['groq', '', '/v1/openai/v1/models', '/openai/v1/models'],
    ['groq', '', '/v1/openai/v1/unknown', '/openai/v1/unknown'],
    ['groq', '/openai/v1', '/v1/openai/v1/chat/completions', '/openai/v1/chat/completions'],
    ['groq', '/openai/v1', '/v1/openai/v1/unknown', '/openai/v1/unknown'],
    ['groq', '/proxy/', '/v1/openai/v1/models', '/proxy/openai/v1/models'],
    ['groq', '/v1', '/v1/openai/v1/models', '/openai/v1/models'],
    ['groq', '', '/v1/chat/completions', '/chat/completions'],
    ['oracle', '', '/openai/v1/responses', '/openai/v1/responses'],
    ['openai', '', '/v1/openai/v1/chat/completions', '/chat/completions'],
    ['together-ai', '', '/v1/chat/completions', '/v1/chat/completions'],
    ['together-ai', '/v1', '/v1/chat/completions', '/v1/chat/completions'],
    ['openrouter', '', '/v1/api/v1/credits', '/api/v1/credits'],
    ['openai', '/openai/v1', '/v1/openai/v1/unknown', '/openai/v1/unknown'],
    ['openai', '/v1', '/v1/v1/unknown', '/v1/v1/unknown'],
  ])('of %s at "%s": %s becomes %s', async (id, ending, path, expected) => {
    const row = rowOf(id);
    const method = path.endsWith('models') ? 'GET' : 'POST';
    expect(await sentPath(row, { method, path, host: HOST + ending })).toBe(expected);
  });

  it('of Vertex AI has project and location where the account names them', async () => {
    const [row, path] = [rowOf('vertex-ai'), '/v1/chat/completions'];
    const below = '/publishers/google/models/m:generateContent';
    const place = '/v1/projects/my-project-4711/locations/europe-west4';

    expect(await sentPath(row, { method: 'POST', path, host: HOST })).toBe(place + below);
    expect(await sentPath(row, { method: 'POST', path, host: HOST + place })).toBe(place + below);
    expect(await sentPath(row, { method: 'POST', path, host: HOST, headers: {} })).toBe(below);
  });

  it.each(['azure-openai', 'azure-ai'])("of %s takes no api-version at Azure's version 1", async (id) => {
    const row = rowOf(id);
    const host = `${HOST}/openai/v1`;
    const at = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      sentPath(row, { method: 'POST', path, host, headers });

    expect(await at('/v1/chat/completions')).toBe('/openai/v1/chat/completions');
    expect(await at('/v1/responses')).toBe('/openai/v1/responses');
    expect(await at('/v1/responses', { 'x-gateway-azure-api-version': '2024-10-21' })).toBe(
      '/openai/v1/responses',
    );
    expect(await at('/v1/responses?api-version=preview')).toBe('/openai/v1/responses?api-version=preview');
    if (id === 'azure-openai') expect(await at('/openai/v1/responses')).toBe('/openai/v1/responses');
  });
});

describe('credentials of servers for tests', () => {
  it.each([
    ['bedrock', 'aws-access-key-id', ['test', 'AKIDEXAMPLE', 'AKIAIOSFODNN7EXAMPLE']],
    ['workers-ai', 'workers-ai-account-id', ['test', '0123456789abcdef0123456789abcdef']],
    ['vertex-ai', 'vertex-project-id', ['test', 'example.com:legacy-project', '123456']],
  ])('are accepted like those of %s: %s', (id, name, values) => {
    const pattern = rowOf(id).fields?.find((field) => field.name === name)?.pattern;
    for (const value of values) expect(value).toMatch(pattern ?? /never/);
    expect('a/../b').not.toMatch(pattern ?? /(?:)/);
  });
});
