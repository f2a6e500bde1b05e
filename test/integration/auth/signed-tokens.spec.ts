import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { IntroducingTokenDirectory } from '../../../src/adapters/tokens/introducing-token-directory.js';
import { PostgresTokenDirectory } from '../../../src/adapters/tokens/postgres-token-directory.js';
import { ChangePublisher } from '../../../src/common/changes/change.js';
import { Egress } from '../../../src/egress/egress.js';
import { parseEgressAllow } from '../../../src/common/net/egress-allow.js';
import { AdminApp, serviceScopes } from '../../support/admin-app.js';
import { ecKeys, jwkOf, rsaKeys, signed, TestIssuer } from '../../support/tokens.js';

let app: AdminApp;
let issuer: TestIssuer;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*' });
  issuer = await TestIssuer.start();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await issuer.stop();
  await app.close();
});

const SETTING = '/v1/admin/organisation/jwt';
/** Also in the place of what is set up. */
const setUp = async (body: object = issuer.setting()) => {
  const first = await app.call('PUT', SETTING, { body });
  return first.status === 428 ? app.call('PUT', SETTING, { body, headers: { 'if-match': '*' } }) : first;
};
const organization = () => app.first.organisation_id;
const token = (more: object = {}, header: object = {}) => issuer.token(organization(), more, header);
const forWorkspace = (more: object = {}) =>
  token({ workspace_slug: 'ws-default', scope: 'virtual_keys.list', ...more });
const list = (key: string) => app.call('GET', '/v1/virtual-keys', { key });
const sql = (text: string, parameters: unknown[] = []) => app.dataSource.query(text, parameters);

/** A person with roles, and the token that names it. */
async function person(role: string, workspaces: Record<string, string> = {}): Promise<string> {
  const [id, email] = [randomUUID(), `${randomUUID()}@example.com`];
  await sql('INSERT INTO users (id, organization_id, email, role) VALUES ($1, $2, $3, $4)', [
    id,
    organization(),
    email,
    role,
  ]);
  for (const [workspaceId, workspaceRole] of Object.entries(workspaces))
    await sql(
      'INSERT INTO workspace_members (workspace_id, user_id, organization_id, role) VALUES ($1, $2, $3, $4)',
      [workspaceId, id, organization(), workspaceRole],
    );
  return email;
}

/** Another issuer, set up in place of the usual one, with whatever the test makes of it. */
async function another(): Promise<TestIssuer> {
  const made = await TestIssuer.start();
  stops.push(() => made.stop());
  await setUp(made.setting());
  return made;
}

/** The verifier of another process: with memory of its own, and the same database. */
function anotherProcess(): PostgresTokenDirectory {
  const egress = new Egress({ allow: parseEgressAllow('127.0.0.1:*').rules, timeouts: { connectMs: 1000 } });
  stops.push(() => egress.close());
  return new PostgresTokenDirectory(app.dataSource, { subscribe: () => undefined }, egress, 60_000);
}

describe('an organization that takes no signed tokens', () => {
  it('accepts none', async () => {
    expect((await app.call('GET', SETTING)).status).toBe(404);
    expect((await list(forWorkspace())).status).toBe(401);
  });
});

describe('the setting', () => {
  it('says what is accepted, with the defaults of the rest, and is recorded', async () => {
    const answer = await setUp();

    expect(answer).toMatchObject({
      status: 200,
      body: {
        object: 'organisation-jwt',
        issuers: [issuer.issuer],
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
        token_types: ['jwt', 'at+jwt'],
        max_lifetime_seconds: 86_400,
        claims: { user: ['email_id', 'sub', 'uid'], workspace: ['workspace_slug', 'portkey_workspace'] },
        jwks_uri: issuer.uri,
        keys: [],
        fetched_at: null,
      },
    });
    expect((await app.call('GET', SETTING)).body).toEqual(answer.body);
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'organisation_settings.update',
      outcome: 'success',
    });
    expect(app.changes.at(-1)).toEqual({ resource: 'organization', id: organization() });
  });

  it.each<[string, object]>([
    ['a symmetric algorithm', { algorithms: ['HS256'] }],
    ['no algorithm at all', { algorithms: ['none'] }],
    ['no issuer', { issuers: [] }],
    ['an empty audience', { audiences: [''] }],
    ['an address in clear', { jwks_uri: 'http://id.example.com/keys' }],
    ['an address that is closed', { jwks_uri: 'http://10.0.0.1/keys' }],
    ['the address of a metadata service', { jwks_uri: 'http://169.254.169.254/keys' }],
    ['credentials in the address', { jwks_uri: 'https://user:pass@id.example.com/keys' }],
    ['keys and their address', { jwks: { keys: [] } }],
    ['a field that is not there', { secret: 'x' }],
    ['a claim with no name', { claims: { user: [''] } }],
  ])('refuses %s', async (_, more) => {
    expect(await setUp(issuer.setting(more))).toMatchObject({ status: 400 });
  });

  it.each<[string, unknown]>([
    ['secrets', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['nothing', { keys: [] }],
  ])('refuses a key set of %s', async (_, jwks) => {
    expect((await setUp({ issuers: ['i'], audiences: ['a'], jwks })).status).toBe(400);
  });

  it('requires an administrator of the organization', async () => {
    const { key } = await app.workspaceKey();
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        (await app.call(method, SETTING, { key, ...(method === 'PUT' ? { body: issuer.setting() } : {}) }))
          .status,
      ).toBe(403);
  });
});

describe('a token for a workspace', () => {
  beforeAll(() => setUp());

  it.each(['x-gateway-api-key', 'x-portkey-api-key', 'authorization'])('opens it in %s', async (name) => {
    const value = name === 'authorization' ? `Bearer ${forWorkspace()}` : forWorkspace();
    expect((await app.call('GET', '/v1/virtual-keys', { key: '', headers: { [name]: value } })).status).toBe(
      200,
    );
  });

  it('names the workspace by slug or id, in either spelling', async () => {
    for (const claim of ['workspace_slug', 'portkey_workspace'])
      for (const workspace of ['ws-default', app.first.workspace_id])
        expect((await list(token({ [claim]: workspace, scopes: ['virtual_keys.list'] }))).status).toBe(200);
  });

  it.each<[string, object, number]>([
    ['as a text', { scope: 'logs.view virtual_keys.list' }, 200],
    ['as a list', { scope: undefined, scopes: ['virtual_keys.list'] }, 200],
    ['with the prefix of the compatible API', { scope: 'portkey.virtual_keys.list' }, 200],
    ['that are unknown', { scope: 'virtual_keys.lists everything' }, 403],
    ['with a wildcard', { scope: ['*', 'virtual_keys.*'] }, 403],
    ['of no kind', { scope: { a: 1 } }, 403],
    ['that it does not name', { scope: undefined }, 403],
  ])('has the scopes that it names %s', async (_, claims, status) => {
    expect((await list(forWorkspace(claims))).status).toBe(status);
  });

  it('H20: keeps of the scopes that it names those that there are for it, and none more', async () => {
    const scope = 'virtual_keys.list * everything organisation_settings.read virtual_keys.*';
    const key = forWorkspace({ scope });
    expect((await list(key)).status).toBe(200);
    const { scopes } = (await app.call('GET', '/v1/admin/me', { key })).body;
    expect(scopes).toEqual(['virtual_keys.list']);
    expect((await app.call('GET', SETTING, { key })).status).toBe(403);
  });

  it('never has what only administrators may', async () => {
    const scope = 'organisation_settings.read organisation_users.create audit_logs.list';
    expect((await app.call('GET', SETTING, { key: forWorkspace({ scope }) })).status).toBe(403);
  });

  it('makes no keys, because they would have no owner', async () => {
    const key = forWorkspace({ scope: serviceScopes().join(' ') });
    const answer = await app.call('POST', '/v1/api-keys/workspace/service', {
      key,
      body: { name: 'x', scopes: ['logs.view'] },
    });

    expect(answer.status).toBe(403);
    expect((await app.audited()).at(-1)).toMatchObject({
      actor_kind: 'workspace_token',
      actor_id: null,
      outcome: 'refused',
    });
  });

  it('has one response for a workspace of another organization, an unknown one, and an invalid name', async () => {
    const { workspaceId } = await app.anotherOrganization();
    const answers = await Promise.all(
      [workspaceId, randomUUID(), 'ws-b', 'none'].map((workspace) =>
        list(forWorkspace({ workspace_slug: workspace })),
      ),
    );
    const bodies = answers.map(({ status, body }) => ({ status, error: { ...body.error, request_id: '' } }));

    expect(bodies[0]).toMatchObject({ status: 403 });
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  it("is not accepted for another organization, whoever's issuer signed it", async () => {
    const { organizationId } = await app.anotherOrganization();
    expect(
      (await list(issuer.token(organizationId, { workspace_slug: 'ws-b', scope: 'virtual_keys.list' })))
        .status,
    ).toBe(401);
    await sql(
      "INSERT INTO organization_jwt (organization_id, issuers, rules, jwks_uri, keys, fetched_at) SELECT $1, issuers, rules, 'https://other.example/', $2::jsonb, now() FROM organization_jwt",
      [organizationId, JSON.stringify([{ kid: 'first', alg: null, jwk: jwkOf(rsaKeys(), 'x') }])],
    );
    expect(
      (await list(issuer.token(organizationId, { workspace_slug: 'ws-b', scope: 'virtual_keys.list' })))
        .status,
    ).toBe(401);
    await sql('DELETE FROM organization_jwt WHERE organization_id = $1', [organizationId]);
  });

  it('of no user and no workspace is refused', async () => {
    expect((await list(token({ scope: 'virtual_keys.list' }))).status).toBe(401);
  });

  it('that has expired stops working', async () => {
    const now = Math.floor(Date.now() / 1000);
    const short = forWorkspace({ iat: now - 100, exp: now + 3_600 });
    expect((await list(short)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: (now + 3_600 + 61) * 1_000 });
    try {
      expect((await list(short)).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is distinguished by all of its characters', async () => {
    const good = forWorkspace({ pad: 'x'.repeat(600) });
    const [head, body, signature = ''] = good.split('.');
    expect((await list(good)).status).toBe(200);
    expect((await list(`${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
    expect((await list(`${head}.${body}.${forWorkspace().split('.')[2]}`)).status).toBe(401);
    const others = [
      forWorkspace({ pad: 'x'.repeat(600), scope: 'logs.view' }),
      forWorkspace({ workspace_slug: 'none' }),
    ];
    for (const other of others) expect((await list(other)).status).toBe(403);
  });

  it.each([20, 100, 500, 2_000])(
    'H27: is distinguished from one that has the same first %i characters',
    async (same) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = (scope: string) => ({
        iat: now,
        exp: now + 600,
        jti: 'the same',
        workspace_slug: 'ws-default',
        pad: 'x'.repeat(same),
        scope,
      });
      const [good, other] = [token(claims('virtual_keys.list')), token(claims('logs.view'))];
      expect(other.slice(0, same)).toBe(good.slice(0, same));

      expect((await list(good)).status).toBe(200);
      expect((await list(other)).status).toBe(403);
      expect((await list(good)).status).toBe(200);
    },
  );

  it('with a key beside it is refused as ambiguous', async () => {
    for (const [key, bearer] of [
      [app.first.admin_api_key, forWorkspace()],
      [forWorkspace(), app.first.admin_api_key],
    ] as const) {
      const answer = await app.call('GET', '/v1/virtual-keys', {
        key,
        headers: { authorization: `Bearer ${bearer}` },
      });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'ambiguous_credentials' } } });
    }
  });

  it("leaves a key alone that comes with a provider's token", async () => {
    const theirs = signed({ alg: 'RS256' }, { iss: 'https://sts.example/', aud: 'x' }, issuer.keys);
    const answer = await app.call('GET', '/v1/virtual-keys', {
      headers: { authorization: `Bearer ${theirs}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('a token of a user', () => {
  beforeAll(() => setUp(issuer.setting({ allow_owners: true })));

  it.each(['owner', 'admin'])('reaches every workspace for an %s of the organization', async (role) => {
    const email = await person(role);
    expect((await app.call('GET', SETTING, { key: token({ email_id: email.toUpperCase() }) })).status).toBe(
      200,
    );
    expect((await list(token({ sub: email }))).status).toBe(200);
  });

  it('has the roles of our tables, whatever it says itself', async () => {
    const email = await person('member', { [app.first.workspace_id]: 'member' });
    const claims = {
      email_id: email,
      role: 'owner',
      roles: ['admin'],
      scope: 'virtual_keys.list virtual_keys.create organisation_settings.read',
    };
    const key = token(claims);

    expect((await list(key)).status).toBe(200);
    expect(
      (
        await app.call('POST', '/v1/virtual-keys', {
          key,
          body: { name: 'x', provider: 'openai', key: 'sk' },
        })
      ).status,
    ).toBe(403);
    expect((await app.call('GET', SETTING, { key })).status).toBe(403);
    expect((await app.audited()).at(-1)).toMatchObject({ actor_kind: 'person', actor_name: email });
  });

  it('can be narrowed by its scopes, and lets in an owner as no more than them', async () => {
    const email = await person('owner');
    expect((await list(token({ email_id: email, scope: 'logs.view' }))).status).toBe(403);
    expect(
      (await app.call('GET', SETTING, { key: token({ email_id: email, scope: 'virtual_keys.list' }) }))
        .status,
    ).toBe(403);
  });

  it('must name the workspace where there is a choice', async () => {
    const second = await app.anotherWorkspace(`ws-${randomUUID().slice(0, 8)}`);
    const [one, two] = [
      await person('member', { [second]: 'manager' }),
      await person('member', { [second]: 'manager', [app.first.workspace_id]: 'member' }),
    ];

    expect((await list(token({ email_id: one }))).status).toBe(200);
    expect((await list(token({ email_id: two }))).status).toBe(403);
    expect((await list(token({ email_id: two, workspace_slug: second }))).status).toBe(200);
    expect((await list(token({ email_id: one, workspace_slug: 'ws-default' }))).status).toBe(403);
    expect((await list(token({ email_id: await person('member') }))).status).toBe(403);
  });

  it('makes keys on its own authority', async () => {
    const email = await person('admin');
    const answer = await app.call('POST', '/v1/api-keys/workspace/service', {
      key: token({ email_id: email }),
      body: { name: 'made by a person', workspace_id: 'ws-default', scopes: ['virtual_keys.list'] },
    });

    expect(answer.status).toBe(200);
    const [made] = await sql('SELECT created_by_key_id, created_by_user_id FROM api_keys WHERE id = $1', [
      answer.body.id,
    ]);
    expect(made).toMatchObject({ created_by_key_id: null, created_by_user_id: expect.any(String) });
    expect((await list(answer.body.key)).status).toBe(200);
  });

  it('loses at the next request what its person lost', async () => {
    const email = await person('owner');
    const key = token({ email_id: email });
    expect((await app.call('GET', SETTING, { key })).status).toBe(200);
    await sql("UPDATE users SET role = 'member' WHERE email = $1", [email]);
    await app.app.get(ChangePublisher).publish({ resource: 'user', id: email });
    expect((await app.call('GET', SETTING, { key })).status).toBe(403);
  });
});

describe('a user that is not known yet', () => {
  const stranger = () => `${randomUUID()}@example.com`;
  const welcome = (more: object = {}) => setUp(issuer.setting({ unknown_people: 'create', ...more }));
  const known = async (email: string) =>
    sql(
      `SELECT person.id, person.role, member.workspace_id, member.role AS workspace_role
       FROM users person LEFT JOIN workspace_members member ON member.user_id = person.id WHERE email = $1`,
      [email],
    );
  const me = (key: string) => app.call('GET', '/v1/admin/me', { key });
  const MAPPINGS = [
    { value: 'everybody', workspace_id: 'ws-default', workspace_role: 'member' },
    { value: 'leads', workspace_id: 'ws-default', workspace_role: 'admin', organisation_role: 'admin' },
    { value: 'gone', workspace_id: 'ws-gone', workspace_role: 'manager' },
  ];

  afterAll(() => setUp());

  it('is refused where the organization requires a user, and acts as a service by default', async () => {
    const email = stranger();
    await setUp(issuer.setting({ unknown_people: 'refuse' }));
    expect((await list(forWorkspace({ email_id: email }))).status).toBe(403);
    await setUp();
    expect((await list(forWorkspace({ email_id: email }))).status).toBe(200);
    expect(await known(email)).toEqual([]);
  });

  it('becomes a member without workspaces, and the trail records it', async () => {
    const email = stranger();
    await welcome();

    expect((await me(token({ email_id: email.toUpperCase() }))).status).toBe(403);
    const [made] = await known(email);
    expect(made).toMatchObject({ role: 'member', workspace_id: null });
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'organisation_users.create',
      outcome: 'success',
      actor_kind: 'person',
      actor_name: email,
      target_id: made.id,
      after: { email, role: 'member' },
    });
    expect(app.changes.at(-1)).toEqual({ resource: 'user', id: made.id });
  });

  it('gets what the roles claim maps to, as far as the ceiling, and never ownership', async () => {
    await welcome({ role_mappings: MAPPINGS, highest_workspace_role: 'manager' });
    const email = stranger();
    const key = token({ email_id: email, roles: ['everybody', 'leads', 'gone', 'owner'] });
    expect((await list(key)).status).toBe(200);
    expect(await known(email)).toMatchObject([
      { role: 'member', workspace_id: app.first.workspace_id, workspace_role: 'manager' },
    ]);

    await welcome({ role_mappings: MAPPINGS, highest_organisation_role: 'admin' });
    const lead = stranger();
    expect((await app.call('GET', SETTING, { key: token({ sub: lead, groups: 'leads' }) })).status).toBe(200);
    expect(await known(lead)).toMatchObject([{ role: 'admin', workspace_role: 'member' }]);
    const refused = await welcome({ highest_organisation_role: 'owner' });
    expect(refused.status).toBe(400);
  });

  it('keeps the roles of our tables from then on, whatever the claim says', async () => {
    await welcome({ role_mappings: MAPPINGS, highest_organisation_role: 'admin' });
    const email = stranger();
    expect((await list(token({ email_id: email, roles: ['everybody'] }))).status).toBe(200);
    await list(token({ email_id: email, roles: ['leads'] }));
    expect(await known(email)).toMatchObject([{ role: 'member', workspace_role: 'member' }]);
  });

  it('is made once by many first requests at the same time, in all processes', async () => {
    await welcome({ role_mappings: MAPPINGS });
    const email = stranger();
    const before = (await app.audited()).length;
    const tokens = Array.from({ length: 8 }, () => token({ email_id: email, roles: 'everybody' }));
    const answers = await Promise.all(tokens.map(list));

    expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 200));
    expect(await known(email)).toHaveLength(1);
    expect(await app.audited()).toHaveLength(before + 1);
  });

  it('is not made when the organization is full, or when the token names no address', async () => {
    const [{ count }] = await sql('SELECT count(*)::int FROM users WHERE organization_id = $1', [
      organization(),
    ]);
    await welcome({ max_people: count });
    const email = stranger();
    expect((await me(token({ email_id: email }))).status).toBe(403);
    expect(await known(email)).toEqual([]);
    await welcome();
    expect((await list(forWorkspace({ sub: 'ci-runner' }))).status).toBe(200);
    expect(await known('ci-runner')).toEqual([]);
  });

  it('is introduced to the administration by the process that serves models', async () => {
    await welcome({ role_mappings: MAPPINGS });
    const administration = createServer((request, response) => {
      void app
        .call(String(request.method), String(request.url), {
          key: String(request.headers['x-gateway-api-key']),
        })
        .then(({ status, text }) => response.writeHead(status).end(text));
    });
    const socket = join(await mkdtemp(join(tmpdir(), 'gh-')), 'admin.sock');
    await new Promise<void>((resolve) => administration.listen(socket, resolve));
    stops.push(async () => void administration.close());
    const directory = anotherProcessVia(socket);
    const email = stranger();

    const found = await directory.find(token({ email_id: email, roles: 'everybody' }));
    expect(found?.principal).toMatchObject({ kind: 'person', name: email });
    expect(await known(email)).toHaveLength(1);
    await welcome({ max_people: 1 });
    await expect(anotherProcessVia(socket).find(token({ email_id: stranger() }))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  /** Its own memory, as that of a process that was just started. */
  function anotherProcessVia(socket: string): IntroducingTokenDirectory {
    return new IntroducingTokenDirectory(anotherProcess(), socket);
  }
});

describe('the keys of an issuer', () => {
  it('may be given with the setting', async () => {
    const ec = ecKeys();
    await setUp({ issuers: [issuer.issuer], audiences: ['gatehouse'], jwks: { keys: [jwkOf(ec, 'e1')] } });
    const claims = issuer.claims(organization(), {
      workspace_slug: 'ws-default',
      scope: 'virtual_keys.list',
    });

    expect((await list(signed({ alg: 'ES256', kid: 'e1' }, claims, ec))).status).toBe(200);
    expect((await list(forWorkspace())).status).toBe(401);
  });

  it('are fetched once for simultaneous requests, in all processes', async () => {
    const own = await another();
    const processes = Array.from({ length: 3 }, anotherProcess);
    const tokens = Array.from({ length: 12 }, () =>
      own.token(organization(), { workspace_slug: 'ws-default' }),
    );

    const found = await Promise.all(tokens.map(async (each, index) => processes[index % 3]?.find(each)));

    expect(found.every((each) => each?.principal.kind === 'workspace_token')).toBe(true);
    expect(own.fetches).toBe(1);
  });

  it('are fetched again for a new one, and not again for one that is not there', async () => {
    const own = await another();
    const claims = { workspace_slug: 'ws-default', scope: 'virtual_keys.list' };
    expect((await list(own.token(organization(), claims))).status).toBe(200);
    own.rotate('second');
    const rotated = own.token(organization(), claims);
    expect((await list(rotated)).status).toBe(401);
    // Half a minute later, as the row tells it.
    await sql("UPDATE organization_jwt SET tried_at = now() - interval '31 seconds'");
    const process = anotherProcess();
    expect(await process.find(rotated)).toMatchObject({ principal: { kind: 'workspace_token' } });
    expect(own.fetches).toBe(2);

    const unknown = Array.from({ length: 300 }, (_, i) =>
      own.token(organization(), claims, { kid: `k${i}` }),
    );
    const answers = await Promise.all(unknown.map(async (each) => process.find(each)));
    expect(answers.every((each) => each === null)).toBe(true);
    expect(own.fetches).toBe(2);
    expect(await process.find(rotated)).not.toBeNull();
  });

  it.each<[string, (own: TestIssuer) => void]>([
    ['fail', (own) => (own.answer = (response) => response.writeHead(500).end())],
    ['are garbage', (own) => (own.answer = (response) => response.end('<html>'))],
    [
      'are too large',
      (own) => (own.answer = (response) => response.end(`{"keys":[],"pad":"${'x'.repeat(400_000)}"}`)),
    ],
    [
      'are too many',
      (own) =>
        (own.answer = (response) =>
          response.end(
            JSON.stringify({ keys: Array.from({ length: 1001 }, () => ({ kty: 'RSA', n: 'A', e: 'A' })) }),
          )),
    ],
    [
      'lead elsewhere',
      (own) => (own.answer = (response) => response.writeHead(302, { location: issuer.uri }).end()),
    ],
    ['never come', (own) => (own.answer = () => undefined)],
  ])('that %s leave known ones working and unknown ones refused', async (_, breakDown) => {
    const own = await another();
    const before = issuer.fetches;
    expect(
      await anotherProcess().find(own.token(organization(), { workspace_slug: 'ws-default' })),
    ).not.toBeNull();
    breakDown(own);
    await sql(
      "UPDATE organization_jwt SET tried_at = now() - interval '31 seconds', fetched_at = now() - interval '23 hours'",
    );
    const process = anotherProcess();

    expect(
      await process.find(own.token(organization(), { workspace_slug: 'ws-default' }, { kid: 'other' })),
    ).toBeNull();
    expect(await process.find(own.token(organization(), { workspace_slug: 'ws-default' }))).not.toBeNull();
    expect(own.fetches).toBe(2);
    expect(issuer.fetches).toBe(before);
    expect((await app.call('GET', SETTING)).body.problem).toEqual(expect.any(String));
  });

  it('are no longer trusted a day after the last fetch', async () => {
    const own = await another();
    const good = own.token(organization(), { workspace_slug: 'ws-default' });
    expect(await anotherProcess().find(good)).not.toBeNull();
    own.answer = (response) => response.writeHead(500).end();
    await sql("UPDATE organization_jwt SET tried_at = now(), fetched_at = now() - interval '25 hours'");

    expect(await anotherProcess().find(good)).toBeNull();
  });

  it('are not looked for where a token says', async () => {
    const own = await another();
    const elsewhere = await TestIssuer.start();
    stops.push(() => elsewhere.stop());
    const claims = { workspace_slug: 'ws-default' };
    for (const header of [
      { jku: elsewhere.uri },
      { x5u: elsewhere.uri },
      { jwk: jwkOf(elsewhere.keys, 'first') },
    ])
      expect(await anotherProcess().find(own.token(organization(), claims, header))).toBeNull();
    expect(elsewhere.fetches).toBe(0);
  });
});

describe('a setting that is removed', () => {
  it('refuses the next request', async () => {
    await setUp();
    const key = forWorkspace();
    expect((await list(key)).status).toBe(200);
    expect((await app.call('DELETE', SETTING)).status).toBe(200);
    expect((await list(key)).status).toBe(401);
    expect((await app.call('DELETE', SETTING)).status).toBe(404);
  });
});
