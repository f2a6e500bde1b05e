import { describe, expect, it } from 'vitest';
import {
  type AdministrationClient,
  type JsonRecord,
  AdministrationRefusal,
} from './administration-client.js';
import type { DeclaredChange } from './change.js';
import { planChanges } from './plan-changes.js';
import { readDocument } from './read-document.js';

const IDS = ['01920000-0000-7000-8000-000000000001', '01920000-0000-7000-8000-000000000002'] as const;
const SEARCH = { id: '01920000-0000-7000-8000-00000000000a', slug: 'ws-search', name: 'Search' };

/** An administration with these resources, by path. */
function having(things: Readonly<Record<string, JsonRecord | readonly JsonRecord[]>>): AdministrationClient {
  const client: Pick<AdministrationClient, 'send' | 'all'> = {
    send: async (method, path) => {
      const found = things[path];
      if (!found) throw new AdministrationRefusal(404, `${method} ${path}`);
      return found as JsonRecord;
    },
    all: async (path) => [...((things[path] ?? []) as readonly JsonRecord[])],
  };
  return client as AdministrationClient;
}

const aKey = (id: string, more: JsonRecord = {}): JsonRecord => ({
  id,
  name: 'twice',
  type: 'workspace-service',
  workspace_id: SEARCH.id,
  scopes: ['logs.list'],
  ...more,
});

const planned = (things: Parameters<typeof having>[0], text: string): Promise<readonly DeclaredChange[]> =>
  planChanges(having(things), readDocument(text, 'file.yaml'), async () => null);

describe('what a file declares', () => {
  it('reports all mistakes of format, names and rules together, each at its line', async () => {
    const text = [
      'organization: { allowed_providers: [opnai] }',
      'workspaces:',
      '  - { name: 5 }',
      'virtual_keys:',
      '  - { slug: Not A Slug, workspace: ws-search, provider: openai, key: { from_env: X } }',
      '  - { slug: away, workspace: ws-searhc, provider: openai, key: { from_env: NOT_SET } }',
      '  - { slug: other, workspace: ws-search, provider: opnai }',
      '  - { slug: hosted, workspace: ws-search, provider: openai, custom_host: "ftp://host" }',
      '  - { slug: bare, workspace: ws-search, provider: openai }',
      'configs:',
      '  - { slug: pc, workspace: ws-search, config: { virtual_key: nowhere } }',
      'api_keys:',
      '  - { name: twice, type: workspace-service, scopes: [logs.lits] }',
    ].join('\n');
    const things = { '/v1/admin/workspaces': [SEARCH], '/v1/admin/organisation': {}, '/v1/api-keys': [] };
    const failure = await planned(things, text).catch((error: unknown) => String(error));
    for (const line of [
      'file.yaml:1: organization.allowed_providers[0] is invalid: There is no provider "opnai"',
      'file.yaml:3: workspaces[0].name is invalid: it must be a string',
      'file.yaml:5: virtual_keys[0].slug is invalid: it must be lowercase letters',
      'file.yaml:6: virtual_keys[1].workspace is not a workspace',
      'file.yaml:6: virtual_keys[1].key cannot be read: the variable NOT_SET is not set',
      'file.yaml:7: virtual_keys[2].provider is invalid: There is no provider',
      'file.yaml:8: virtual_keys[3].custom_host is invalid',
      'file.yaml:9: virtual_keys[4].key is invalid: it is missing',
      'file.yaml:11: configs[0].config.virtual_key names "nowhere"',
      'file.yaml:13: api_keys[0].scopes[0] is invalid: There is no scope "logs.lits"',
      'file.yaml:13: api_keys[0].name is not the name of an API key',
    ])
      expect(failure).toContain(line);
    expect(failure).toContain('The file has 11 mistakes');
  });

  it('takes a thing of the file whose own entry is wrong as one that is there', async () => {
    const text = [
      'workspaces: [{ name: Search, colour: red }]',
      'configs: [{ slug: pc, workspace: Search, config: { virtual_key: vk } }]',
      'virtual_keys: [{ slug: vk, workspace: Search, provider: openai, colour: red }]',
    ].join('\n');
    await expect(planned({}, text)).rejects.toThrow('The file has 2 mistakes');
  });

  it('says by id which of several keys of one name is meant', async () => {
    const things = { '/v1/admin/workspaces': [SEARCH], '/v1/api-keys': [aKey(IDS[0]), aKey(IDS[1])] };
    const entry = (more: string): string =>
      `api_keys: [{ name: twice, type: workspace-service, ${more} scopes: [logs.view] }]`;
    await expect(planned(things, entry(''))).rejects.toThrow('is the name of 2 API keys; choose one with');
    await expect(planned(things, entry(`id: ${SEARCH.id},`))).rejects.toThrow('is not the id of an API key');

    const [change] = await planned(things, entry(`id: ${IDS[1]},`));
    expect(change?.path).toBe(`/v1/api-keys/${IDS[1]}`);
  });

  it('distinguishes keys of one name by the slug of their workspace', async () => {
    const elsewhere = { ...SEARCH, id: IDS[0], slug: 'ws-other' };
    const things = {
      '/v1/admin/workspaces': [SEARCH, elsewhere],
      '/v1/api-keys': [aKey(IDS[0]), aKey(IDS[1], { workspace_id: elsewhere.id })],
    };
    const text =
      'api_keys: [{ name: twice, type: workspace-service, workspace: ws-other, scopes: [logs.view] }]';
    expect((await planned(things, text)).map(({ path }) => path)).toEqual([`/v1/api-keys/${IDS[1]}`]);
  });

  it('means a workspace by its name where only one has it', async () => {
    const others = [SEARCH, { ...SEARCH, id: IDS[0], slug: 'ws-other', name: 'Other' }];
    const text = (workspace: string): string =>
      `api_keys: [{ name: twice, type: workspace-service, workspace: ${workspace}, scopes: [logs.view] }]`;
    const keys = { '/v1/api-keys': [aKey(IDS[1])] };
    expect(await planned({ ...keys, '/v1/admin/workspaces': others }, text('Search'))).toHaveLength(1);

    const same = [SEARCH, { ...SEARCH, id: IDS[0], slug: 'ws-other' }];
    await expect(planned({ ...keys, '/v1/admin/workspaces': same }, text('Search'))).rejects.toThrow(
      'api_keys[0].workspace is the name of several workspaces; write the slug or the id',
    );
  });

  it.each([
    ['2031-03-01T02:00:00.5+02:00', '2031-03-01T00:00:00.500Z'],
    ['2031-02-31T00:00:00Z', '2031-02-31T00:00:00Z'],
  ])('sends the expiry %s as %s, and moves none to another day', async (said, sent) => {
    const things = {
      '/v1/admin/workspaces': [SEARCH],
      '/v1/virtual-keys/vk': { provider: 'openai', workspace_id: SEARCH.id, fields: {} },
    };
    const [change] = await planned(
      things,
      `virtual_keys: [{ slug: vk, workspace: ws-search, provider: openai, expires_at: "${said}" }]`,
    );

    expect(change?.body((name) => name)).toEqual({ expires_at: sent });
  });

  it('says by id which of several workspaces of one name is meant', async () => {
    const things = { '/v1/admin/workspaces': [SEARCH, { ...SEARCH, id: IDS[0], slug: 'ws-other' }] };
    await expect(planned(things, 'workspaces: [{ name: Search, description: x }]')).rejects.toThrow(
      'is the name of 2 workspaces',
    );
    const both = `workspaces: [{ name: Search, id: ${SEARCH.id} }, { name: Search, id: ${IDS[0]}, description: x }]`;
    expect((await planned(things, both)).map(({ path }) => path)).toEqual([`/v1/admin/workspaces/${IDS[0]}`]);
  });

  describe('users', () => {
    const PENDING = '/v1/admin/users/invites?status=pending';
    const ada = { id: IDS[0], email: 'ada@example.com', role: 'member', workspaces: [] };
    const having = (things: Parameters<typeof planned>[0]): Parameters<typeof planned>[0] => ({
      '/v1/admin/workspaces': [SEARCH],
      ...things,
    });
    const text = (more: string): string => `users: [{ email: ada@example.com, ${more} }]`;
    const inWords = ({ method, path, body }: DeclaredChange): unknown[] => [
      method,
      typeof path === 'string' ? path : path((name) => name),
      body((name) => name),
    ];

    it('who exist get the declared role and memberships, and keep their others', async () => {
      const other = { id: IDS[1], role: 'manager' };
      const things = having({ '/v1/admin/users': [{ ...ada, workspaces: [other] }] });
      const member = 'workspaces: [{ workspace: ws-search, role: member }]';
      expect((await planned(things, text(`role: admin, ${member}`))).map(inWords)).toEqual([
        ['PUT', `/v1/admin/users/${IDS[0]}`, { role: 'admin' }],
        ['POST', `/v1/admin/workspaces/${SEARCH.id}/users`, { users: [{ id: IDS[0], role: 'member' }] }],
      ]);
    });

    it('with all that is declared are left alone', async () => {
      const workspaces = [{ id: SEARCH.id, role: 'member' }];
      const declared = text('role: member, workspaces: [{ workspace: Search, role: member }]');
      const known = having({ '/v1/admin/users': [{ ...ada, workspaces }] });
      const invited = having({ [PENDING]: [{ ...ada, workspaces }] });
      expect([await planned(known, declared), await planned(invited, declared)]).toEqual([[], []]);
    });

    it('who do not exist are invited, also to a workspace that the file makes', async () => {
      const file = `workspaces: [{ name: New }]\n${text('role: member, workspaces: [{ workspace: New, role: manager }]')}`;
      const [, invite] = await planned(having({}), file);
      expect(invite && inWords(invite)).toEqual([
        'POST',
        '/v1/admin/users/invites',
        { email: 'ada@example.com', role: 'member', workspaces: [{ id: 'New', role: 'manager' }] },
      ]);
    });

    it('whose invite differs get another one, with the workspaces that it had', async () => {
      const workspaces = [{ id: IDS[1], role: 'manager' }];
      const changes = await planned(having({ [PENDING]: [{ ...ada, workspaces }] }), text('role: admin'));
      expect(changes.map(inWords)).toEqual([
        ['DELETE', `/v1/admin/users/invites/${IDS[0]}`, {}],
        ['POST', '/v1/admin/users/invites', { email: 'ada@example.com', role: 'admin', workspaces }],
      ]);
    });

    it('who are owners, who are named twice, and whose address is none are mistakes', async () => {
      const things = having({ '/v1/admin/users': [{ ...ada, role: 'owner' }] });
      await expect(planned(things, text('role: admin'))).rejects.toThrow(
        'users[0].role cannot be set: ada@example.com is an owner',
      );
      const twice =
        'role: admin, workspaces: [{ workspace: Search, role: member }, { workspace: ws-search, role: admin }]';
      await expect(planned(having({}), text(twice))).rejects.toThrow(
        'users[0].workspaces[1].workspace names the workspace "ws-search" twice',
      );
      await expect(planned(things, 'users: [{ email: Ada, role: admin }]')).rejects.toThrow(
        'users[0].email is invalid: it must be an e-mail address in lower case',
      );
    });
  });

  it('has limits compared with their defaults and without what was used', async () => {
    const shown = { credit_limit: 5, type: 'cost', raised_by: 0, alert_threshold: null, usage: 3 };
    const things = {
      '/v1/admin/workspaces': [SEARCH],
      '/v1/api-keys': [aKey(IDS[0], { usage_limits: shown, rate_limits: null })],
    };
    const text = (limits: string): string =>
      `api_keys: [{ name: twice, type: workspace-service, scopes: [logs.list], ${limits} }]`;
    expect(await planned(things, text('usage_limits: [{ credit_limit: 5 }], rate_limits: []'))).toEqual([]);

    const [change] = await planned(things, text('rate_limits: [{ type: requests, unit: rpm, value: 9 }]'));
    expect(change?.body((name) => name)).toEqual({
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 9, on_store_failure: 'open' }],
    });
  });
});
