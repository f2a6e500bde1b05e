import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../test/support/gateway.js';

/** Bytes that no JSON serializer would reproduce. */
const BODY = '{ "name" : "mine",  "big": 12345678901234567890 }';
const JSON_TYPE = { 'content-type': 'application/json' };
const CHAT = { messages: [{ role: 'user', content: 'Hi' }] };
const ANSWER = JSON.stringify({
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const azure = {
  providerId: 'azure-openai',
  customHost: null,
  fields: { 'azure-resource-name': 'res', 'azure-api-version': '2024-06-01' },
};

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { google: 'google', azure }, ...wishes }));
afterEach(() => gateway.close());

type ProviderPathHeaders = Readonly<Record<string, string>>;
const send = (method: string, path: string, headers: ProviderPathHeaders = {}, body?: string) =>
  gateway.request(path, {
    method,
    headers: { ...(body === undefined ? {} : JSON_TYPE), ...headers },
    ...(body === undefined ? {} : { body }),
  });
const through = (slug: string): ProviderPathHeaders => ({ 'x-gateway-virtual-key': slug });
const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error?: { code: string } }).error?.code;
const sent = (): string[] => gateway.calls.map(({ target, path }) => target.origin + path);
const bodyOf = (): string => {
  const body = gateway.calls.at(-1)?.body;
  return Buffer.isBuffer(body) ? body.toString() : '';
};

describe('names that the administration and providers share', () => {
  const config = JSON.stringify({ virtual_key: 'openai-prod' });
  const ways: readonly (readonly [string, ProviderPathHeaders])[] = [
    ['a virtual key', { 'x-gateway-virtual-key': 'openai-prod' }],
    ['a virtual key in the other spelling', { 'x-portkey-virtual-key': 'openai-prod' }],
    ['a provider and its key', { 'x-gateway-provider': 'openai', authorization: 'Bearer sk-mine' }],
    ['a stored credential as provider', { 'x-gateway-provider': '@openai-prod' }],
    ['a config', { 'x-gateway-config': config }],
    ['a saved config', { 'x-gateway-config': 'pc-main' }],
  ];
  const wishes = { configs: { 'pc-main': { virtual_key: 'openai-prod' } } };

  it.each(ways)('are paths of the provider where %s chooses one', async (_, headers) => {
    await given(wishes);
    for (const name of ['collections', 'prompts', 'labels'])
      for (const method of ['PUT', 'POST', 'GET', 'DELETE']) {
        const body = method === 'PUT' || method === 'POST' ? BODY : undefined;
        const answer = await send(method, `/v1/${name}/my-own%20one?a=1&a=2`, headers, body);

        expect(answer.status).toBe(200);
        expect(gateway.calls.at(-1)).toMatchObject({ method, path: `/v1/${name}/my-own%20one?a=1&a=2` });
      }
  });

  it("are paths of the provider where the key's own config chooses one", async () => {
    const routing = { configId: '00000000-0000-7000-8000-000000000200', allowsOverride: true };
    await given({ ...wishes, caller: aCaller({ routing }) });

    expect((await send('PUT', '/v1/collections/mine', {}, BODY)).status).toBe(200);
    expect(sent()).toEqual(['https://api.openai.com/v1/collections/mine']);
  });

  it('are paths of the provider where the model in the body names its target, and no other byte changes', async () => {
    await given();
    const body = '{ "model" : "@google/m",  "big": 12345678901234567890 }';

    for (const path of ['/v1/collections/mine', '/v1/assistants'])
      expect((await send('POST', path, {}, body)).status).toBe(200);
    expect(sent()).toEqual(['collections/mine', 'assistants'].map((path) => `${GOOGLE}/v1beta/${path}`));
    expect(bodyOf()).toBe(body.replace('@google/m', 'm'));
  });

  it.each([
    ['a model without a target', '{"model":"gpt-4o"}'],
    ['a list', '["@google/m"]'],
    ['what is no JSON', '{"model":"@google/m"'],
    ['nothing', undefined],
  ])('are not built where nothing chooses a provider: %s', async (_, body) => {
    await given();
    for (const name of ['collections', 'prompts/p/completions', 'labels']) {
      const answer = await send(body === undefined ? 'GET' : 'POST', `/v1/${name}`, {}, body);

      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([501, 'false']);
      expect(await codeOf(answer)).toBe('not_built');
    }
    expect(gateway.calls).toEqual([]);
  });

  it('are not built for an admin key either, which has no other way there', async () => {
    await given({ caller: aCaller({ kind: 'admin_key', scopes: new Set(), workspaceId: null }) });

    expect(await codeOf(await send('POST', '/v1/prompts/p/completions', {}, BODY))).toBe('not_built');
    expect(await codeOf(await send('POST', '/v1/prompts', through('openai-prod'), BODY))).toBe('forbidden');
  });
});

describe('a path that the administration has', () => {
  it.each(['files', 'feedback', 'policies', 'logs', 'providers', 'integrations', 'admin', 'mcp-servers'])(
    'is reached at a provider below /v1/proxy: %s',
    async (name) => {
      await given();
      await send('PUT', `/v1/proxy/${name}/1?x=%2f`, through('openai-prod'), BODY);

      expect(sent()).toEqual([`https://api.openai.com/v1/${name}/1?x=%2f`]);
      expect(gateway.calls).toHaveLength(1);
    },
  );
});

describe('the root of /v1', () => {
  it('is the base URL of a chosen provider', async () => {
    await given({
      virtualKeys: { bare: { providerId: 'openai', customHost: 'https://models.example', fields: {} } },
    });
    for (const path of ['/v1', '/v1/', '/v1?a=1']) await send('GET', path, through('openai-prod'));
    for (const path of ['/v1', '/v1/']) await send('GET', path, through('bare'));

    expect(sent()).toEqual([
      ...['', '/', '?a=1'].map((end) => `https://api.openai.com/v1${end}`),
      ...['/', '/'].map((end) => `https://models.example${end}`),
    ]);
  });

  it('is nothing where no provider is chosen', async () => {
    await given();

    expect(await codeOf(await send('GET', '/v1'))).toBe('not_found');
    expect(await codeOf(await send('GET', '/v1/'))).toBe('provider_missing');
  });
});

const GOOGLE = 'https://generativelanguage.googleapis.com';

describe("Google's versions", () => {
  const rests = [
    'interactions',
    'cachedContents/1',
    'fileSearchStores',
    'models',
    'openai/models',
    'auth_tokens',
  ];
  const roots = [
    ['/v1beta', '/v1beta'],
    ['/v1alpha', '/v1alpha'],
    ['/v1/v1beta', '/v1beta'],
    ['/v1/v1alpha', '/v1alpha'],
    ['/v1/v1', '/v1'],
    ['/v1', '/v1beta'],
  ] as const;

  it.each(roots)('occur once in front of every path that begins with %s', async (root, version) => {
    await given();
    for (const rest of rests) await send('POST', `${root}/${rest}?a=1`, through('google'), BODY);

    expect(sent()).toEqual(rests.map((rest) => `${GOOGLE}${version}/${rest}?a=1`));
  });

  it.each(['', '/v1beta', '/proxy', '/proxy/v1beta', '/proxy/v1'])(
    'occur once behind the custom host that ends with "%s"',
    async (ending) => {
      const pinned = { providerId: 'google', customHost: `https://models.example${ending}`, fields: {} };
      await given({ virtualKeys: { pinned } });
      const root = ending.startsWith('/proxy') ? '/proxy' : '';
      for (const path of ['/v1beta/interactions', '/v1alpha/models/g:generateContent'])
        await send('POST', path, through('pinned'), '{"contents":[]}');

      expect(sent()).toEqual(
        ['/v1beta/interactions', '/v1alpha/models/g:generateContent'].map(
          (path) => `https://models.example${root}${path}`,
        ),
      );
    },
  );

  it.each([...roots.slice(0, -1), ['/v1', '/v1'] as const])(
    'keep a call a call: %s',
    async (root, version) => {
      const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
      await given({ answers: [{ chunks: [JSON.stringify({ usageMetadata })] }] });
      const ask = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] });
      await send('POST', `${root}/models/gpt-4o-mini:generateContent`, through('google'), ask);

      expect(sent()).toEqual([`${GOOGLE}${version}/models/gpt-4o-mini:generateContent`]);
      expect(gateway.logs[0]?.record).toMatchObject({
        endpoint: 'generate-content',
        model: 'gpt-4o-mini',
        usage: { input_tokens: 100, output_tokens: 10 },
      });
    },
  );

  it.each(['/v1beta/openai', '/v1/v1beta/openai', '/v1/openai'])(
    "leave OpenAI's format below %s untranslated, and metered",
    async (root) => {
      await given({ answers: [{ chunks: [ANSWER] }] });
      const ask = JSON.stringify({ model: 'gpt-4o-mini', ...CHAT });
      const answer = await send('POST', `${root}/chat/completions`, through('google'), ask);

      expect(sent()).toEqual([`${GOOGLE}/v1beta/openai/chat/completions`]);
      expect([bodyOf(), await answer.text()]).toEqual([ask, ANSWER]);
      expect(gateway.logs[0]?.record).toMatchObject({ usage: { input_tokens: 100, output_tokens: 10 } });
    },
  );

  it('are left out where another provider serves the endpoint, and kept where it is only passed through to', async () => {
    await given();
    await send(
      'POST',
      '/v1beta/chat/completions',
      through('openai-prod'),
      JSON.stringify({ model: 'm', ...CHAT }),
    );
    await send('POST', '/v1/v1beta/other', through('openai-prod'), BODY);
    await send('POST', '/v1/v1/messages', through('openai-prod'), BODY);

    expect(sent()).toEqual(
      ['/v1/chat/completions', '/v1/v1beta/other', '/v1/v1/messages'].map(
        (path) => `https://api.openai.com${path}`,
      ),
    );
  });

  it('take the key out of the query where the gateway adds the stored one, and only there', async () => {
    await given();
    await send('POST', '/v1beta/models/g:generateContent?key=mine&alt=sse', through('google'), '{}');
    const own = { 'x-gateway-provider': 'google' };
    await send('POST', '/v1beta/models/g:generateContent?key=mine', own, '{}');
    await send('POST', '/v1/files?key=mine', through('openai-prod'), BODY);

    expect(sent().map((url) => url.slice(url.indexOf('?')))).toEqual(['?alt=sse', '?key=mine', '?key=mine']);
  });
});

describe("Azure's paths", () => {
  const AZURE = 'https://res.openai.azure.com';
  const deployed = '/openai/deployments/gpt-4o-mini/chat/completions';
  const ask = JSON.stringify({ model: 'another', ...CHAT });

  it.each(['', '/v1'])(
    'reach the deployment that they name, below "%s", and are metered by it',
    async (root) => {
      await given({ answers: [{ chunks: [ANSWER] }] });
      const answer = await send('POST', `${root}${deployed}?api-version=2024-10-21`, through('azure'), ask);

      expect(sent()).toEqual([`${AZURE}${deployed}?api-version=2024-10-21`]);
      expect([bodyOf(), await answer.text()]).toEqual([ask, ANSWER]);
      expect(gateway.logs[0]?.record).toMatchObject({
        endpoint: 'chat-completions',
        model: 'gpt-4o-mini',
        usage: { input_tokens: 100, output_tokens: 10 },
        cost_nano_usd: 100 * 150 + 10 * 600,
      });
    },
  );

  it.each([
    ['/openai/files', '', '?api-version=2024-06-01'],
    ['/openai/responses/r1', '?API-Version=2025-03-01-preview', '?API-Version=2025-03-01-preview'],
    ['/openai/assistants', '?a=1&api-version=2024-10-21', '?a=1&api-version=2024-10-21'],
    ['/openai/assistants', '?a=1', '?a=1&api-version=2024-06-01'],
    ['/openai/assistants', '?api-version=newest', '?api-version=newest'],
    ['/openai/v1/responses', '', ''],
    ['/openai/v1/files', '?api-version=preview', '?api-version=preview'],
  ])('keep a version of the client, and get the stored one else: %s%s', async (path, query, expected) => {
    await given();
    await send('GET', path + query, through('azure'));

    expect(sent()).toEqual([AZURE + path + expected]);
  });

  it('count a version in the query as the field where OpenAI’s own paths are used', async () => {
    await given();
    const asOpenAi = JSON.stringify({ model: 'mini', ...CHAT });
    for (const query of ['', '?api-version=2024-10-21', '?api-version=v1'])
      await send('POST', `/v1/chat/completions${query}`, through('azure'), asOpenAi);

    expect(sent()).toEqual([
      `${AZURE}/openai/deployments/mini/chat/completions?api-version=2024-06-01`,
      `${AZURE}/openai/deployments/mini/chat/completions?api-version=2024-10-21`,
      `${AZURE}/openai/v1/chat/completions?api-version=v1`,
    ]);
  });

  it('need no version in a header where the client sends one, nor where the path has no versions', async () => {
    await given();
    const own = {
      'x-gateway-provider': 'azure-openai',
      'x-gateway-azure-resource-name': 'res',
      'api-key': 'sk-mine',
    };
    await send('POST', `${deployed}?api-version=2024-10-21`, own, ask);
    await send('GET', '/openai/v1/models', own);
    const refused = await send('GET', '/openai/files', own);

    expect(sent()).toEqual([`${AZURE}${deployed}?api-version=2024-10-21`, `${AZURE}/openai/v1/models`]);
    expect(await refused.text()).toContain('azure-api-version');
  });

  it('allow no model by the body that the path does not name', async () => {
    const policy = { providers: null, models: new Set(['another']), keepsBodies: true, needsLog: false };
    await given({ caller: aCaller({ policy }) });

    expect(await codeOf(await send('POST', deployed, through('azure'), ask))).toBe('model_not_allowed');
    expect(gateway.calls).toEqual([]);
  });

  it('name the model for a provider without deployments, whatever the body says', async () => {
    await given({ answers: [{ chunks: [ANSWER] }] });
    await send('POST', deployed, through('openai-prod'), ask);

    expect(sent()).toEqual(['https://api.openai.com/v1/chat/completions']);
    expect(bodyOf()).toBe(JSON.stringify({ model: 'gpt-4o-mini', ...CHAT }));
  });

  it('may name their target as models do, in the path or the body', async () => {
    await given();
    const body = (model: string) => JSON.stringify({ model, ...CHAT });
    await send('POST', deployed.replace('gpt', '@azure/gpt'), {}, body('@azure/gpt-4o-mini'));
    await send('POST', deployed, {}, body('@azure/x'));

    expect(sent()).toEqual([deployed, deployed].map((path) => `${AZURE}${path}?api-version=2024-06-01`));
    expect(gateway.calls.map(({ body: bytes }) => String(bytes as Buffer))).toEqual(
      ['gpt-4o-mini', 'gpt-4o-mini'].map(body),
    );
  });

  it('lead to the deployment that a config sets', async () => {
    await given();
    const config = { virtual_key: 'azure', override_params: { model: 'other', seed: 1 } };
    await send('POST', deployed, { 'x-gateway-config': JSON.stringify(config) }, ask);

    expect(sent()).toEqual([`${AZURE}${deployed.replace('gpt-4o-mini', 'other')}?api-version=2024-06-01`]);
    expect(JSON.parse(bodyOf())).toMatchObject({ model: 'other', seed: 1 });
    expect(gateway.logs[0]?.record.model).toBe('other');
  });
});
