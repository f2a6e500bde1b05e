import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { jsonOf } from '../support/http-client.js';
import { EchoUpstream, header } from '../support/upstreams/echo.js';
import { eventually } from '../support/waiting.js';
import { World } from '../support/world.js';

/** What the SDK gives back is whatever the service answered. */
type Loose = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const CHANGE_MS = 2_000;

let world: World;
let upstream: EchoUpstream;
let client: Loose;
let folder: string;

beforeAll(async () => {
  world = await World.create('configs');
  upstream = await EchoUpstream.start(world.service.facts.egressPorts);
  client = new Portkey({
    apiKey: world.service.bootstrap.admin_api_key,
    baseURL: `${world.service.baseUrl}/v1`,
  });
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-apply-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await upstream.stop();
  await world.close();
});

const workspace_id = () => world.service.bootstrap.workspace_id;
let counted = 0;
const aSlug = (name: string) => `${name}-${process.pid}-${++counted}`;
const chat = (headers: Record<string, string>, model: string) =>
  world.send({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'x-gateway-api-key': world.apiKey.key, ...headers },
    body: { model, messages: [{ role: 'user', content: 'Hello' }] },
  });
const authorizations = () => upstream.ledger.map((received) => header(received, 'authorization'));

describe('the compatible SDK', () => {
  it('makes, lists, reads, changes and removes virtual keys', async () => {
    const made = await client.virtualKeys.create({
      name: aSlug('azure'),
      provider: 'azure-openai',
      key: world.canaries.make('azure'),
      resourceName: 'res',
      deploymentConfig: [
        { apiVersion: '2024-10-21', deploymentName: 'dep', alias: 'gpt-4o', is_default: true },
      ],
      workspace_id: workspace_id(),
    });
    const { slug } = made.data;
    expect((await client.virtualKeys.retrieve({ slug })).fields).toEqual({
      'azure-resource-name': 'res',
      'azure-api-version': '2024-10-21',
      'azure-deployment-id': 'dep',
    });
    const { data } = await client.virtualKeys.list({ workspace_id: workspace_id() });
    expect(data.map((key: Loose) => key.slug)).toContain(slug);
    await client.virtualKeys.update({ slug, note: 'changed' });
    expect((await client.virtualKeys.retrieve({ slug })).note).toBe('changed');
    await client.virtualKeys.delete({ slug });
    await expect(client.virtualKeys.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('makes, lists, reads, changes and removes configs', async () => {
    const made = await client.configs.create({
      name: 'From the SDK',
      config: { retry: { attempts: 1 }, provider: 'sandbox' },
      isDefault: 0,
      workspace_id: workspace_id(),
    });
    const { slug, version_id } = made.data;
    expect(slug).toMatch(/^pc-/);
    expect((await client.configs.retrieve({ slug })).data).toMatchObject({
      name: 'From the SDK',
      version_id,
      is_default: 0,
    });
    expect(
      (await client.configs.list({ workspace_id: workspace_id() })).data.map((one: Loose) => one.slug),
    ).toContain(slug);
    const changed = await client.configs.update({
      slug,
      config: { retry: { attempts: 2 }, provider: 'sandbox' },
    });
    expect(changed.data.version_id).not.toBe(version_id);
    await expect(client.configs.update({ slug, config: { retry: { attempts: 99 } } })).rejects.toMatchObject({
      status: 400,
    });
    await client.configs.delete({ slug });
    await expect(client.configs.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('shares an integration, and a provider of it works as @slug, in the model and as a virtual key', async () => {
    const secret = world.canaries.make('shared');
    const slug = aSlug('shared');
    const made = await client.integrations.create({
      name: 'Shared',
      slug,
      ai_provider_id: 'openai',
      key: secret,
      configurations: { custom_host: `${upstream.url}/v1` },
    });
    expect(made).toMatchObject({ slug });
    const read = await client.integrations.retrieve({ slug });
    expect(read).toMatchObject({ ai_provider_id: 'openai', masked_key: `***${secret.slice(-4)}` });
    await client.integrations.workspaces.update({
      slug,
      workspaces: [{ id: workspace_id(), enabled: true, create_default_provider: false }],
    });
    expect((await client.integrations.workspaces.list({ slug })).workspaces).toMatchObject([
      { enabled: true },
    ]);
    const provider = await client.providers.create({
      name: 'P',
      integration_id: made.id,
      slug: `${slug}-p`,
      workspace_id: workspace_id(),
    });
    expect(provider).toMatchObject({ slug: `${slug}-p` });
    expect(
      (await client.providers.list({ workspace_id: workspace_id() })).data.map((one: Loose) => one.slug),
    ).toContain(`${slug}-p`);
    await client.providers.update({ slug: `${slug}-p`, note: 'noted' });
    expect(await client.providers.retrieve({ slug: `${slug}-p` })).toMatchObject({
      note: 'noted',
      integration_id: made.id,
    });

    upstream.reset();
    for (const [headers, model] of [
      [{ 'x-gateway-provider': `@${slug}-p` }, 'gpt-4o'],
      [{}, `@${slug}-p/gpt-4o`],
      [{ 'x-gateway-virtual-key': `${slug}-p` }, 'gpt-4o'],
    ] as const)
      expect((await chat(headers, model)).status).toBe(200);
    expect(authorizations()).toEqual(Array.from({ length: 3 }, () => `Bearer ${secret}`));

    await client.integrations.models.update({
      slug,
      allow_all_models: false,
      models: [{ slug: 'gpt-4o', enabled: true }],
    });
    const { models } = await client.integrations.models.list({ slug });
    expect(models).toContainEqual(expect.objectContaining({ slug: 'gpt-4o', enabled: true }));
    await eventually(async () => (await chat({}, `@${slug}-p/gpt-4o-mini`)).status === 403, {
      withinMs: CHANGE_MS,
      what: 'the models are restricted',
    });
    const refused = jsonOf(await chat({}, `@${slug}-p/gpt-4o-mini`));
    expect(refused.error.code).toBe('model_not_allowed');
    expect((await chat({}, `@${slug}-p/gpt-4o`)).status).toBe(200);
    const unseen = await world.send({
      method: 'POST',
      path: '/v1/proxy/anything',
      headers: { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-virtual-key': `${slug}-p` },
      body: { model: 'gpt-4o-mini' },
    });
    expect(unseen.status).toBe(403);
    await client.integrations.models.delete({ slug, slugs: 'gpt-4o' });

    await client.providers.delete({ slug: `${slug}-p`, workspace_id: workspace_id() });
    await client.integrations.update({ slug, name: 'Renamed' });
    expect((await client.integrations.list({ type: 'organisation' })).data).toContainEqual(
      expect.objectContaining({ slug, name: 'Renamed' }),
    );
    await client.integrations.delete({ slug });
    await expect(client.integrations.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a saved config', () => {
  it(`routes requests that name it, and another version within ${CHANGE_MS} ms`, async () => {
    const config = { virtual_key: world.virtualKey };
    const slug = aSlug('pc-routed');
    await world.administration.ask('POST', '/v1/configs', {
      name: 'Routed',
      slug,
      config,
      workspace_id: workspace_id(),
    });
    const send = () => chat({ 'x-gateway-config': slug }, 'gpt-4o');
    expect((await send()).status).toBe(200);
    const elsewhere = await world.administration.createVirtualKey({
      name: aSlug('elsewhere'),
      secret: world.canaries.make('elsewhere'),
      customHost: `${upstream.url}/v1`,
    });
    await world.administration.ask('PUT', `/v1/configs/${slug}`, { config: { virtual_key: elsewhere } });
    await eventually(
      async () => {
        upstream.reset();
        await send();
        return upstream.ledger.length === 1;
      },
      { withinMs: CHANGE_MS, what: 'the new version in force' },
    );
    await world.administration.ask('DELETE', `/v1/configs/${slug}`);
  });
});

describe('a price of its own', () => {
  it('is what a request costs', async () => {
    const slug = aSlug('priced');
    await world.administration.ask('POST', '/v1/virtual-keys', {
      name: slug,
      slug,
      provider: 'sandbox',
      workspace_id: workspace_id(),
      model_pricing: {
        'sandbox-1': { pay_as_you_go: { request_token: { price: 1 }, response_token: { price: 0 } } },
      },
    });
    const answer = await chat({ 'x-gateway-virtual-key': slug }, 'sandbox-1');
    expect(answer.status).toBe(200);
    const { usage } = jsonOf(answer);
    await eventually(
      async () =>
        (await world.rows()).some((row: Loose) => row.id === answer.requestId && row.cost_nano_usd !== null),
      { what: 'its row' },
    );
    const row: Loose = (await world.rows()).find((one: Loose) => one.id === answer.requestId);
    expect(Number(row.cost_nano_usd)).toBe(usage.prompt_tokens * 10_000_000);
    const { attempts } = await world.administration.ask('GET', `/v1/logs/${answer.requestId}`);
    expect(attempts[0].price).toEqual({
      source: 'agreed',
      model: 'sandbox-1',
      usd_per_million_tokens: { input: 10_000, output: 0 },
    });
  });
});

describe('gatehouse apply', () => {
  /** The command as an operator runs it; answers what it said and its exit code. */
  const gatehouse = (...args: string[]): Promise<{ code: number; text: string }> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        ADMIN_KEY: world.service.bootstrap.admin_api_key,
        UPSTREAM_KEY: world.canaries.make('applied'),
      };
      execFile(
        process.execPath,
        ['bin/gatehouse.mjs', ...args, '--url', world.service.baseUrl, '--key-env', 'ADMIN_KEY'],
        { env, timeout: 60_000 },
        (error, out, err) => resolve({ code: error ? Number(error.code) : 0, text: out + err }),
      );
    });
  const file = async (name: string, document: string | object): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, typeof document === 'string' ? document : stringify(document));
    return path;
  };

  it('shows what would change, makes it once, and then has nothing to do', async () => {
    const [vk, pc, workspace] = [aSlug('declared'), aSlug('pc-declared'), aSlug('Research')];
    const path = await file('one.yaml', {
      workspaces: [{ name: workspace, description: 'Declared' }],
      virtual_keys: [
        {
          slug: vk,
          workspace,
          provider: 'openai',
          custom_host: `${upstream.url}/v1/`,
          key: { from_env: 'UPSTREAM_KEY' },
        },
      ],
      configs: [
        { slug: pc, workspace, name: 'Declared', config: { virtual_key: vk, retry: { attempts: 2 } } },
      ],
    });
    const rehearsed = await gatehouse('apply', '-f', path, '--dry-run');
    expect(rehearsed).toMatchObject({ code: 0, text: expect.stringContaining(`+ virtual key "${vk}"`) });
    expect((await world.administration.call('GET', `/v1/virtual-keys/${vk}`)).status).toBe(404);
    expect(await gatehouse('apply', '-f', path)).toMatchObject({
      code: 1,
      text: expect.stringContaining('--yes'),
    });

    expect(await gatehouse('apply', '-f', path, '--yes')).toMatchObject({ code: 0 });
    const made = await world.administration.ask('GET', `/v1/configs/${pc}`);
    expect(made.data.config).toEqual({ virtual_key: vk, retry: { attempts: 2 } });
    expect(await gatehouse('apply', '-f', path, '--yes')).toEqual({ code: 0, text: 'Nothing to change.\n' });

    const changed = parse(
      stringify({ configs: [{ slug: pc, workspace, config: { virtual_key: vk, retry: { attempts: 3 } } }] }),
    );
    const again = await gatehouse('apply', '-f', await file('two.yaml', changed), '--yes');
    expect(again.text).toContain('~ /config/retry/attempts: 2 -> 3');
    expect((await world.administration.ask('GET', `/v1/configs/${pc}`)).data.version).toBe(2);
  });

  it('reports all mistakes of a file at once, with their lines, and changes nothing', async () => {
    const path = await file(
      'wrong.yaml',
      [
        'virtual_keys:',
        '  - slug: Not A Slug',
        '    workspace: ws-default',
        '    provider: openai',
        '    key: sk-in-the-file',
        'configs:',
        '  - slug: pc-x',
        '    workspace: ws-default',
        '    config:',
        '      retry:',
        '        attempts: 99',
        'colours: [red]',
      ].join('\n'),
    );
    const { code, text } = await gatehouse('apply', '-f', path, '--yes');
    expect(code).toBe(1);
    for (const place of ['wrong.yaml:2:', 'wrong.yaml:5:', 'wrong.yaml:11:', 'wrong.yaml:12:'])
      expect(text).toContain(place);
    expect(text).not.toContain('sk-in-the-file');
  });

  it('finds what is missing before it changes anything', async () => {
    const path = await file('missing.yaml', {
      virtual_keys: [
        { slug: aSlug('x'), workspace: 'ws-default', provider: 'openai', key: { from_env: 'NOT_SET' } },
      ],
      configs: [{ slug: aSlug('pc-x'), workspace: 'ws-default', config: { virtual_key: 'never-there' } }],
      api_keys: [{ name: 'never there', type: 'workspace-service', scopes: ['logs.list'] }],
    });
    const { code, text } = await gatehouse('apply', '-f', path, '--yes');
    expect(code).toBe(1);
    for (const word of ['NOT_SET', 'never-there', 'not the name of an API key']) expect(text).toContain(word);
  });

  it('changes what an API key may do, by its name', async () => {
    const name = aSlug('reference');
    const { id } = await world.administration.createKey(name, ['logs.list']);
    const path = await file('keys.yaml', {
      api_keys: [{ name, type: 'workspace-service', scopes: ['logs.view', 'logs.list'] }],
    });
    expect(await gatehouse('apply', '-f', path, '--yes')).toMatchObject({ code: 0 });
    expect((await world.administration.ask('GET', `/v1/api-keys/${id}`)).scopes).toEqual([
      'logs.list',
      'logs.view',
    ]);
  });

  it('takes what export prints, and finds it all there, keys and workspaces that share a name too', async () => {
    const name = aSlug('twice');
    const twins = [
      await world.administration.createKey(name, ['logs.list']),
      await world.administration.createKey(name, ['logs.view']),
    ];
    for (const description of ['one', 'another'])
      await world.administration.ask('POST', '/v1/admin/workspaces', { name, description });
    // By its slug the first workspace would now be taken for this one, whose name comes first.
    await world.administration.ask('POST', '/v1/admin/workspaces', { name: 'ws-default' });
    const printed = await gatehouse('export');
    expect(printed.code).toBe(0);
    expect(parse(printed.text)).toMatchObject({
      virtual_keys: expect.any(Array),
      workspaces: expect.any(Array),
    });
    const all = parse(printed.text);
    // Keys of other tests may be gone by the time.
    const keys = all.api_keys.filter((key: { name: string }) => key.name === name);
    expect(keys.map(({ id }: { id: string }) => id).sort()).toEqual(twins.map(({ id }) => id).sort());
    const path = await file('exported.yaml', { ...all, api_keys: keys });
    expect(await gatehouse('apply', '-f', path, '--yes')).toEqual({ code: 0, text: 'Nothing to change.\n' });
  });
});

describe('after all of this', () => {
  it('no secret appears anywhere', () => world.checkCanaries());
});
