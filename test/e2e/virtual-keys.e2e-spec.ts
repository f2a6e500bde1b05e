import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import { expectRefusal } from '../support/refusals.js';
import { EchoUpstream, header } from '../support/upstreams/echo.js';
import { eventually, inParallel } from '../support/waiting.js';
import { World } from '../support/world.js';

const CHANGE_MS = 2_000;

let world: World;
let other: EchoUpstream;

beforeAll(async () => {
  world = await World.create('virtual-keys');
  other = await EchoUpstream.start(world.service.facts.egressPorts);
});
afterAll(async () => {
  await other.stop();
  await world.close();
});

const admin = (method: string, path: string, body?: object): Promise<Answer> =>
  world.administration.call(method, path, body);
const keyAt = (upstream: EchoUpstream, name: string, secret = world.canaries.make(name)) =>
  world.administration.createVirtualKey({ name, secret, customHost: `${upstream.url}/v1` });
const use = (slug: string): Promise<Answer> =>
  world.send({ path: '/v1/used', headers: { ...world.headers, 'x-gateway-virtual-key': slug } });

/** A second organization, as nobody can make one over the interface, with the like of a virtual key of the first. */
async function anotherOrganizationsCopy(slug: string): Promise<string> {
  const [organizationId, workspaceId, copy] = [randomUUID(), randomUUID(), `of-b-${randomUUID()}`];
  await withDatabase(world.service, async (client) => {
    await client.query(
      "INSERT INTO organizations (id, name, wrapped_key) SELECT $1, 'B', wrapped_key FROM organizations LIMIT 1",
      [organizationId],
    );
    await client.query(
      "INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, 'wB', 'ws-b')",
      [workspaceId, organizationId],
    );
    const changes = {
      id: randomUUID(),
      organization_id: organizationId,
      workspace_id: workspaceId,
      slug: copy,
    };
    const { rowCount } = await client.query(
      'INSERT INTO virtual_keys SELECT (jsonb_populate_record(k, $2)).* FROM virtual_keys k WHERE slug = $1',
      [slug, JSON.stringify(changes)],
    );
    expect(rowCount).toBe(1);
  });
  return copy;
}

describe('a virtual key', () => {
  it('brings its stored secret to its provider, and the secret never comes back', async () => {
    const secret = world.canaries.make('brought');
    const slug = await keyAt(other, 'brings its secret', secret);
    other.reset();
    const answer = await use(slug);
    expect(answer.status).toBe(200);
    expect(other.ledger.map((received) => header(received, 'authorization'))).toEqual([`Bearer ${secret}`]);
    world.keep('read', await admin('GET', `/v1/virtual-keys/${slug}`));
    world.keep(
      'list',
      await admin(
        'GET',
        `/v1/virtual-keys?workspace_id=${world.service.bootstrap.workspace_id}&page_size=100`,
      ),
    );
    const read = jsonOf(await admin('GET', `/v1/virtual-keys/${slug}`));
    expect(read).toMatchObject({ object: 'virtual-key', slug, name: 'brings its secret', status: 'active' });
  });

  it('takes the place of a credential that the client sends beside it', async () => {
    const secret = world.canaries.make('wins');
    const slug = await keyAt(other, 'wins', secret);
    other.reset();
    const headers = {
      ...world.headers,
      'x-gateway-virtual-key': slug,
      authorization: `Bearer ${world.clientSecret}`,
      'x-api-key': world.clientSecret,
    };
    await world.send({ path: '/v1/used', headers });
    expect(other.ledger.map((received) => header(received, 'authorization'))).toEqual([`Bearer ${secret}`]);
    expect(JSON.stringify(other.ledger[0]?.headers)).not.toContain(world.clientSecret);
  });

  it('that is unknown, and one that never could be, are the same 404', async () => {
    const answers = await Promise.all([
      use('no-such-key'),
      use('../../etc'),
      use("x' OR '1'='1"),
      use('a'.repeat(500)),
    ]);
    for (const answer of answers) {
      expect([400, 404]).toContain(answer.status);
      expectRefusal(answer.body, jsonOf(answer).error.code);
    }
    expect(answers[0]?.status).toBe(404);
  });

  it('G04: of another workspace or organization gets the response of a missing one', async () => {
    const name = `elsewhere-${randomUUID().slice(0, 8)}`;
    const workspace = await world.administration.ask('POST', '/v1/admin/workspaces', { name });
    const customHost = `${other.url}/v1`;
    const wish = { name, secret: world.canaries.make('elsewhere'), customHost, workspaceId: workspace.id };
    const ofAnotherWorkspace = await world.administration.createVirtualKey(wish);
    const ofAnotherOrganization = await anotherOrganizationsCopy(world.virtualKey);
    other.reset();
    world.upstream.reset();
    const told = async (slug: string): Promise<unknown> => {
      const { status, rawHeaders, body } = await use(slug);
      const { error } = jsonOf({ body });
      // The answer names the slug that was asked for.
      const message = String(error.message).replace(slug, '?');
      const names = rawHeaders.map(([header]) => header.toLowerCase());
      return { status, error: { ...error, message, request_id: '' }, names };
    };

    const unknown = await told('there-is-none');
    expect(unknown).toMatchObject({ status: 404 });
    expect(await told(ofAnotherWorkspace)).toEqual(unknown);
    expect(await told(ofAnotherOrganization)).toEqual(unknown);
    expect([...other.ledger, ...world.upstream.ledger]).toEqual([]);
  });

  it('N02: whose credential was swapped with that of another in the database is of no use', async () => {
    const [one, two] = [await keyAt(other, 'swapped one'), await keyAt(other, 'swapped two')];
    const { rows } = await withDatabase(world.service, (client) =>
      client.query<{ id: string }>(
        `UPDATE virtual_keys k SET sealed_credentials = o.sealed_credentials
         FROM virtual_keys o WHERE k.slug = ANY($1) AND o.slug = ANY($1) AND o.slug <> k.slug RETURNING k.id`,
        [[one, two]],
      ),
    );
    const ids = rows.map(({ id }) => id);
    expect(ids).toHaveLength(2);
    other.reset();
    for (const slug of [one, two]) {
      const answer = await use(slug);
      expect(answer.status).toBe(500);
      expectRefusal(answer.body, 'credential_unusable');
      expect(await world.logs.row(answer.requestId)).toMatchObject({ error_code: 'credential_unusable' });
    }
    expect(other.ledger).toEqual([]);
    const told = world.service.output
      .split('\n')
      .filter((line) => line.includes('credential cannot be decrypted'));
    for (const id of ids) expect(told.some((line) => line.includes(id))).toBe(true);
  });

  it(`takes a new secret into every process within ${CHANGE_MS} ms`, async () => {
    const slug = await keyAt(other, 'gets a new secret');
    await inParallel(Array.from({ length: 16 }), 16, () => use(slug));
    const secret = world.canaries.make('new');
    expect((await admin('PUT', `/v1/virtual-keys/${slug}`, { key: secret })).status).toBe(200);
    await eventually(
      async () => {
        other.reset();
        await inParallel(Array.from({ length: 16 }), 16, () => use(slug));
        return other.ledger.every((received) => header(received, 'authorization') === `Bearer ${secret}`);
      },
      { withinMs: CHANGE_MS, what: 'the new secret everywhere' },
    );
  });

  it(`that was deleted is gone from every process within ${CHANGE_MS} ms`, async () => {
    const slug = await keyAt(other, 'is deleted');
    await inParallel(Array.from({ length: 16 }), 16, () => use(slug));
    expect((await admin('DELETE', `/v1/virtual-keys/${slug}`)).status).toBe(200);
    await eventually(
      async () =>
        (await inParallel(Array.from({ length: 16 }), 16, () => use(slug))).every(
          ({ status }) => status === 404,
        ),
      { withinMs: CHANGE_MS, what: '404 everywhere' },
    );
    expect((await admin('GET', `/v1/virtual-keys/${slug}`)).status).toBe(404);
  });

  it('G27: does not move to another host or provider without its secret given again', async () => {
    const slug = await keyAt(other, 'stays where it is');
    world.upstream.reset();
    const moved = await admin('PUT', `/v1/virtual-keys/${slug}`, {
      custom_host: `${world.upstream.url}/stolen`,
    });
    expect(moved.status).toBe(400);
    expectRefusal(moved.body, 'credential_required');
    await use(slug);
    expect(world.upstream.ledger).toEqual([]);
  });

  it('may be named with an @, in the header and in the model', async () => {
    const slug = await keyAt(other, 'is named');
    expect((await use(`@${slug}`)).status).toBe(200);
    other.reset();
    const answer = await world.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-api-key': world.apiKey.key },
      body: { messages: [], model: `@${slug}/gpt-4o-mini`, x: 1 },
    });
    expect(answer.status).toBe(200);
    expect(other.ledger.map(({ body }) => body.toString())).toEqual([
      '{"messages":[],"model":"gpt-4o-mini","x":1}',
    ]);
  });

  it.each([
    ['without a provider', { name: 'x', key: 'k' }, 'invalid_request'],
    ['with a provider that nobody knows', { name: 'x', key: 'k', provider: 'nobody' }, 'provider_unknown'],
    ['without a secret', { name: 'x', provider: 'openai' }, 'credential_required'],
    [
      'with a host that is no address',
      { name: 'x', key: 'k', provider: 'openai', custom_host: 'file:///etc/passwd' },
      'custom_host_invalid',
    ],
    [
      'with a field that nobody knows',
      { name: 'x', key: 'k', provider: 'openai', colour: 'red' },
      'invalid_request',
    ],
  ] as const)('is not made %s', async (_, body, code) => {
    const answer = await admin('POST', '/v1/virtual-keys', {
      workspace_id: world.service.bootstrap.workspace_id,
      ...body,
    });
    expect(answer.status).toBe(400);
    expect(['invalid_request', code]).toContain(jsonOf(answer).error.code);
  });

  it('is not made by a key without the scope', async () => {
    const answer = await world.administration.call(
      'POST',
      '/v1/virtual-keys',
      { name: 'x', key: 'k', provider: 'openai' },
      world.apiKey.key,
    );
    expect(answer.status).toBe(403);
    expectRefusal(answer.body, 'forbidden');
  });

  it('may be made and used by a workspace key with the scope', async () => {
    const { workspace_api_key: key } = world.service.bootstrap;
    const created = await world.administration.call(
      'POST',
      '/v1/virtual-keys',
      {
        name: 'by the workspace',
        provider: 'openai',
        key: world.canaries.make('workspace'),
        custom_host: `${other.url}/v1`,
      },
      key,
    );
    expect(created.status).toBeLessThan(300);
    expect((await use(jsonOf(created).data.slug)).status).toBe(200);
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
