import { createHash, randomBytes } from 'node:crypto';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf } from '../support/http-client.js';
import { rawExchange } from '../support/raw-client.js';
import { startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { TestIssuer } from '../support/tokens.js';
import { MailServer } from '../support/upstreams/smtp.js';
import { eventually, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/** Sections D19, F, G of people, members, workspaces and invites, from outside: the built service, real sockets, several processes. */
const NARROWED_MS = 2_000;
const ACCEPT = '/v1/admin/invites/accept';
const NAMES = { first_name: 'Grace', last_name: 'Hopper' };

const unique = (): string => randomBytes(5).toString('hex');
const tokenOf = (link: unknown): string => String(link).slice(String(link).indexOf('#') + 1);

let world: World;
const started = new Started();

beforeAll(async () => {
  world = await World.create('people', undefined, ['completions.write', 'logs.list', 'workspaces.read']);
});
afterAll(async () => {
  await started.end();
  await world.checkCanaries();
  await world.close();
});

const accept = (body: object) => world.service.client.call({ method: 'POST', path: ACCEPT, body });

/** A person who joined, with a key of the default workspace. */
async function aPerson(
  role: 'member' | 'manager' = 'member',
  scopes: readonly string[] = ['completions.write'],
) {
  const email = `e-${unique()}@example.com`;
  const invite = await world.administration.ask('POST', '/v1/admin/users/invites', {
    email,
    role: 'member',
    workspaces: [{ id: world.service.bootstrap.workspace_slug, role }],
    workspace_api_key_details: { scopes },
  });
  const token = tokenOf(invite.invite_link);
  world.canaries.watch(`invite-${email}`, token);
  const answer = await accept({ token, ...NAMES });
  expect(answer.status, answer.body.toString()).toBe(200);
  const accepted = jsonOf(answer);
  world.canaries.watch(`key-${email}`, accepted.api_keys[0].key as string);
  return { id: accepted.user_id as string, email, key: accepted.api_keys[0].key as string };
}

/** Of a request to a provider on a connection of its own, so that any gateway process may answer. */
const statusOf = async (key: string): Promise<number> =>
  (
    await world.service.client.call({
      path: '/v1/probe',
      headers: { 'x-gateway-virtual-key': world.virtualKey, 'x-gateway-api-key': key },
      fresh: true,
    })
  ).status;

describe('portkey-ai, unmodified', () => {
  const client = () =>
    new Portkey({
      apiKey: world.service.bootstrap.admin_api_key,
      baseURL: `${world.service.baseUrl}/v1`,
    }).admin;

  it('performs every method of workspaces', async () => {
    const name = `SDK ${unique()}`;
    const { workspaces } = client();
    const made = await workspaces.create({
      name,
      description: 'By the SDK',
      defaults: { metadata: { a: 'b' } },
    });
    expect(made).toMatchObject({ name, description: 'By the SDK', object: 'workspace', users: [] });
    const workspaceId = made.id as string;

    expect(await workspaces.retrieve({ workspaceId })).toMatchObject({ id: workspaceId, slug: made.slug });
    expect(await workspaces.list({ exact_name: name, page_size: 10, current_page: 0 })).toMatchObject({
      total: 1,
      data: [{ id: workspaceId }],
    });
    await workspaces.update({ workspaceId, description: 'Changed' });
    expect(await workspaces.retrieve({ workspaceId })).toMatchObject({ description: 'Changed' });
    await expect(workspaces.delete({ workspaceId })).rejects.toMatchObject({ status: 400 });
    await workspaces.delete({ workspaceId, name });
    await expect(workspaces.retrieve({ workspaceId })).rejects.toMatchObject({ status: 404 });
  });

  it('performs every method of members', async () => {
    const { workspaces } = client();
    const person = await aPerson();
    const name = `Members ${unique()}`;
    const workspaceId = (await workspaces.create({ name })).id as string;

    await workspaces.users.create({ workspaceId, users: [{ id: person.id, role: 'admin' }] });
    expect(await workspaces.users.retrieve({ workspaceId, userId: person.id })).toMatchObject({
      role: 'admin',
      org_role: 'member',
      workspace_id: workspaceId,
    });
    await workspaces.users.update({ workspaceId, userId: person.id, role: 'manager' });
    expect(await workspaces.users.list({ workspaceId, role: 'manager', email: person.email })).toMatchObject({
      total: 1,
    });
    await workspaces.users.delete({ workspaceId, userId: person.id });
    expect(await workspaces.users.list({ workspaceId })).toMatchObject({ total: 0, data: [] });
    await workspaces.delete({ workspaceId, name });
  });

  it('performs every method of invites and users', async () => {
    const { users } = client();
    const email = `sdk-${unique()}@example.com`;
    const made = await users.invites.create({
      email,
      role: 'member',
      workspaces: [{ id: world.service.bootstrap.workspace_id, role: 'manager' }],
      workspace_api_key_details: { scopes: ['completions.write'] },
    });
    expect(made.invite_link).toContain('#gw_invite_');
    const inviteId = made.id as string;
    expect(await users.invites.retrieve({ inviteId })).toMatchObject({ email, status: 'pending' });
    expect(await users.invites.list({ email, pageSize: 5, currentPage: 0, status: 'pending' })).toMatchObject(
      {
        total: 1,
        data: [{ id: inviteId }],
      },
    );
    const { inviteLink } = (await users.invites.resend({ inviteId })) as { inviteLink: string };
    expect((await accept({ token: tokenOf(made.invite_link), ...NAMES })).status).toBe(404);
    const accepted = jsonOf(await accept({ token: tokenOf(inviteLink), ...NAMES }));
    const userId = accepted.user_id as string;

    expect(await users.retrieve({ userId })).toMatchObject({ ...NAMES, email, role: 'member' });
    expect(await users.list({ email, role: 'member', pageSize: 5, currentPage: 0 })).toMatchObject({
      total: 1,
    });
    await users.update({ userId, role: 'admin' });
    expect(await users.retrieve({ userId })).toMatchObject({ role: 'admin' });
    await expect(users.delete({ userId })).rejects.toMatchObject({ status: 400 });
    const confirmed = { userId, email };
    await users.delete(confirmed);
    await expect(users.retrieve({ userId })).rejects.toMatchObject({ status: 404 });

    const other = await users.invites.create({
      email: `sdk-${unique()}@example.com`,
      role: 'member',
      workspaces: [],
    });
    await users.invites.delete({ inviteId: other.id });
    expect(await users.invites.retrieve({ inviteId: other.id })).toMatchObject({
      status: 'cancelled',
    });
  });
});

describe('what users lose', () => {
  const untilRefused = async (key: string, status: number): Promise<void> => {
    // Each on a connection of its own: one process that has heard of it is not all of them.
    const everywhere = async (): Promise<boolean> =>
      (await Promise.all(Array.from({ length: 8 }, () => statusOf(key)))).every((each) => each === status);
    await eventually(everywhere, { withinMs: NARROWED_MS, everyMs: 25, what: `a ${status} everywhere` });
  };

  it('by leaving a workspace is gone in every process within two seconds', async () => {
    const { id, key } = await aPerson();
    expect(await statusOf(key)).toBe(200);

    await world.administration.ask(
      'DELETE',
      `/v1/admin/workspaces/${world.service.bootstrap.workspace_id}/users/${id}`,
    );

    await untilRefused(key, 401);
  });

  it('by being deactivated or deleted is gone in every process within two seconds', async () => {
    const { id, email, key } = await aPerson();
    expect(await statusOf(key)).toBe(200);

    await world.administration.ask('PUT', `/v1/admin/users/${id}`, { status: 'deactivated' });
    await untilRefused(key, 403);
    await world.administration.ask('PUT', `/v1/admin/users/${id}`, { status: 'active' });
    await untilRefused(key, 200);
    await world.administration.ask('DELETE', `/v1/admin/users/${id}?confirm=${email}`);
    await untilRefused(key, 401);
  });

  it('with their workspace is gone in every process within two seconds, and its log stays', async () => {
    const name = `Doomed ${unique()}`;
    const { id } = await world.administration.ask('POST', '/v1/admin/workspaces', { name });
    const { key } = await world.administration.ask('POST', '/v1/api-keys/workspace/service', {
      name: 'k',
      workspace_id: id,
      scopes: ['completions.write'],
    });
    world.canaries.watch('doomed', key as string);
    const sent = await world.service.client.call({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-api-key': key as string, 'x-gateway-provider': 'sandbox' },
      body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'hi' }] },
    });
    expect(sent.status).toBe(200);
    await world.logs.row(sent.requestId);

    await world.administration.ask('DELETE', `/v1/admin/workspaces/${id}`, { name });

    await untilRefused(key as string, 401);
    expect((await world.logs.row(sent.requestId)).id).toBe(sent.requestId);
  });
});

describe('endpoints without a key', () => {
  it('D19: reads no more than 64 KiB before it refuses, declared or not', async () => {
    const declared = await rawExchange(
      world.service.baseUrl,
      `POST ${ACCEPT} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\ncontent-length: ${50 * 1024 * 1024}\r\n\r\n`,
      { answers: 1 },
    );
    expect(declared.answers.map(({ status }) => status)).toEqual([413]);

    const piece = 'a'.repeat(96 * 1024);
    const undeclared = await rawExchange(
      world.service.baseUrl,
      `POST ${ACCEPT} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${piece.length.toString(16)}\r\n${piece}\r\n`,
      { answers: 1 },
    );
    const [answer] = undeclared.answers;
    expect(answer?.status).toBe(413);
    expect(answer?.body.toString()).toContain('65536 bytes');
  });

  it('cannot be taken for a path of a provider, nor opened with a wrong method', async () => {
    const statusOf = async (path: string): Promise<number> =>
      (await world.service.client.call({ method: 'GET', path })).status;
    for (const path of [ACCEPT, `${ACCEPT}/`]) expect(await statusOf(path), path).toBe(405);
    for (const path of ['/v1/ADMIN/invites/accept', '/v1/%61dmin/invites/accept'])
      expect(await statusOf(path), path).toBe(404);
  });

  it('leads from a page that only its own script may run on', async () => {
    const page = await world.service.client.call({ path: '/invites/accept' });
    const html = page.body.toString();
    const policy = page.headers['content-security-policy'] ?? '';
    const hashOf = (tag: string): string => {
      const [, inner = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html) ?? [];
      return `'sha256-${createHash('sha256').update(inner).digest('base64')}'`;
    };

    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(policy).toContain(`script-src ${hashOf('script')}`);
    expect(policy).toContain(`style-src ${hashOf('style')}`);
    expect(policy).toContain("default-src 'none'");
    expect(html).toContain(ACCEPT);
  });
});

describe('with a mail server', () => {
  it('the link reaches only the invited user, and works', async () => {
    const mail = started.add(await MailServer.start(), (one) => one.stop());
    const service = started.add(
      await startService({
        env: {
          GATEHOUSE_PROCESSES: '1',
          GATEHOUSE_SMTP_URL: mail.url,
          GATEHOUSE_MAIL_FROM: 'Gatehouse <gate@example.com>',
          GATEHOUSE_PUBLIC_URL: 'https://gate.example.com',
        },
      }),
      (one) => one.dispose(),
    );
    const headers = { 'x-gateway-api-key': service.bootstrap.admin_api_key, host: 'evil.example.com' };
    const body = { email: 'ada@example.com', role: 'admin', workspaces: [] };
    const made = await service.client.call({
      method: 'POST',
      path: '/v1/admin/users/invites',
      headers,
      body,
    });
    expect(jsonOf(made)).toMatchObject({ invite_link: null });

    await eventually(() => Promise.resolve(mail.mails.length > 0), { what: 'the mail' });
    const [received] = mail.mails;
    expect(received).toMatchObject({ to: ['ada@example.com'] });
    expect(received?.text).toContain('https://gate.example.com/invites/accept#');
    const token = received ? mail.tokenIn(received) : '';
    const accepted = await service.client.call({
      method: 'POST',
      path: ACCEPT,
      body: { token, ...NAMES, email: 'ada@example.com' },
    });
    expect(accepted.status).toBe(200);
    await sleep(3_000);
    expect(mail.mails).toHaveLength(1);
    expect(service.output).not.toContain(token.slice(-43));
  });
});

describe('a user known only by a signed token', () => {
  const SETTING = '/v1/admin/organisation/jwt';

  it('calls a model with the first request, in whichever process, and is made once', async () => {
    const issuer = await TestIssuer.start();
    const { organisation_id, workspace_slug } = world.service.bootstrap;
    const email = `e-${unique()}@example.com`;
    await world.administration.ask('PUT', SETTING, {
      ...issuer.setting({ jwks_uri: undefined, jwks: issuer.jwks() }),
      unknown_people: 'create',
      role_mappings: [{ value: 'everybody', workspace_id: workspace_slug }],
    });
    const tokens = Array.from({ length: 6 }, () =>
      issuer.token(organisation_id, { email_id: email, groups: ['everybody'] }),
    );
    try {
      expect(await Promise.all(tokens.map(statusOf))).toEqual(tokens.map(() => 200));
    } finally {
      await world.administration.ask('DELETE', SETTING);
      await issuer.stop();
    }
    const people = await world.administration.ask('GET', `/v1/admin/users?email=${email}`);
    expect(people).toMatchObject({ total: 1, data: [{ email, role: 'member' }] });
  });
});
