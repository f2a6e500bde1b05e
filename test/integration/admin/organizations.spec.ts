import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

const PATH = '/v1/admin/organisation';

describe("the organization's settings", () => {
  let app: AdminApp;

  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const put = (body: object, key?: string) => app.call('PUT', PATH, { body, key });

  it('are as usual at first, and what is not named stays as it is', async () => {
    const first = await app.call('GET', PATH);
    expect(first.body).toMatchObject({
      object: 'organisation',
      id: app.first.organisation_id,
      security_settings: null,
      allowed_providers: null,
      allowed_models: null,
      log_bodies: true,
    });

    await put({ allowed_providers: ['openai', 'sandbox'] });
    await put({ name: 'Example Inc.', security_settings: { membersViewLogs: false } });
    const changed = await put({ security_settings: { managersViewAnalytics: false } });

    expect(changed.body).toMatchObject({
      name: 'Example Inc.',
      allowed_providers: ['openai', 'sandbox'],
      security_settings: { membersViewLogs: false, managersViewAnalytics: false },
    });
    const back = await put({ allowed_providers: null, security_settings: null });
    expect(back.body).toMatchObject({ allowed_providers: null, security_settings: null });
  });

  it.each([
    [{ security_settings: { membersFly: true } }, 'security_settings'],
    [{ security_settings: { membersViewLogs: 'no' } }, 'security_settings'],
    [{ security_settings: [] }, 'security_settings'],
    [{ allowed_providers: [] }, 'allowed_providers'],
    [{ allowed_models: [''] }, 'allowed_models'],
    [{ log_bodies: 1 }, 'log_bodies'],
    [{ wrapped_key: 'x' }, 'wrapped_key'],
  ])('refuses %j and names the field', async (body, field) => {
    const answer = await put(body);

    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toContain(`"${field}"`);
  });

  it('refuses a provider that does not exist', async () => {
    expect((await put({ allowed_providers: ['opnai'] })).body.error.code).toBe('provider_unknown');
  });

  it('are not for workspace keys, and not for admin keys without the scope', async () => {
    const { key } = await app.workspaceKey();
    expect((await put({ name: 'x' }, key)).status).toBe(403);
    const made = await app.call('POST', '/v1/api-keys/organisation/service', {
      body: { name: 'Reader', scopes: ['organisation_settings.read'] },
    });
    expect((await app.call('GET', PATH, { key: made.body.key })).status).toBe(200);
    expect((await put({ name: 'x' }, made.body.key)).status).toBe(403);
  });

  it('revoke a permission from all users of a role, and restore it', async () => {
    const listing = async () => (await app.call('GET', '/v1/api-keys')).status;
    expect(await listing()).toBe(200);
    const switchTo = async (position: boolean) =>
      put({ security_settings: { organisationAdminsViewLogMetadata: position } });

    await switchTo(false);
    expect((await app.call('GET', '/v1/logs')).status).toBe(403);
    await switchTo(true);
    expect((await app.call('GET', '/v1/logs')).status).not.toBe(403);
  });
});

describe('GET /v1/admin/me', () => {
  let app: AdminApp;

  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  it('shows each caller who it is and what it may do', async () => {
    const made = await app.workspaceKey(['logs.list', 'completions.write']);

    const { body } = await app.call('GET', '/v1/admin/me', { key: made.key });

    expect(body).toEqual({
      object: 'caller',
      kind: 'workspace_service_key',
      name: 'A key',
      api_key_id: made.id,
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      user_id: null,
      scopes: ['completions.write', 'logs.list'],
    });
  });

  it('reveals nothing to unauthenticated callers', async () => {
    expect((await app.call('GET', '/v1/admin/me', { key: '' })).status).toBe(401);
  });
});

describe('revoking many keys', () => {
  let app: AdminApp;

  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const revoke = (ids: readonly string[], key?: string) =>
    app.call('POST', '/v1/api-keys/revoke', { body: { ids }, key });

  it('ends all of them at once', async () => {
    const keys = [await app.workspaceKey(), await app.workspaceKey()];

    const answer = await revoke(keys.map(({ id }) => id));

    expect(answer.body).toEqual({ object: 'list', revoked: keys.map(({ id }) => id).sort() });
    for (const { key } of keys) expect((await app.call('GET', '/v1/admin/me', { key })).status).toBe(401);
  });

  it('ends none when one is out of reach', async () => {
    const mine = await app.workspaceKey();
    const elsewhere = await app.anotherWorkspace('ws-elsewhere');
    const theirs = await app.workspaceKey(undefined, elsewhere);

    const answer = await revoke([mine.id, theirs.id], mine.key);

    expect(answer.status).toBe(404);
    for (const { key } of [mine, theirs])
      expect((await app.call('GET', '/v1/admin/me', { key })).status).toBe(200);
  });
});
