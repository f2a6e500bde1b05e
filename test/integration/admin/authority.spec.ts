import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdministrationApi } from '../../../src/admin/openapi/document.js';
import type { Answer, Json } from '../../support/admin-app.js';
import { AUTHORITIES, type AuthorityName, CHANGES } from './authority.table.js';
import { AuthorityWorld, type Holder } from './authority.world.js';
import type { Operation } from './permissions.table.js';

let world: AuthorityWorld;
let owner: Holder;
let admin: Holder;
let manager: Holder;
let member: Holder;
beforeAll(async () => {
  world = await AuthorityWorld.make();
  [owner, admin] = [await world.holder('owner'), await world.holder('admin')];
  [manager, member] = [await world.holder('manager'), await world.holder('member')];
});
afterAll(() => world.close());

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const NAMES = Object.keys(AUTHORITIES) as AuthorityName[];
const operationsOf = (name: AuthorityName): Operation[] =>
  CHANGES.filter(({ authorities }) => authorities.includes(name)).map(({ operation }) => operation);

describe('the table of authorities', () => {
  it('has exactly one line for each operation that changes anything', () => {
    const { paths } = buildAdministrationApi(world.app.app, { withDeprecated: true });
    const changing = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => method !== 'get' && item[method]).map(
        (method) => `${method.toUpperCase()} ${path}`,
      ),
    );
    const listed = CHANGES.map(({ operation }) => operation);
    expect(listed.filter((operation) => !operation.startsWith('GET')).sort()).toEqual(changing.sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('has an operation for each authority', () => {
    expect(NAMES.filter((name) => operationsOf(name).length === 0)).toEqual([]);
  });
});

/** What became of an attempt: refused with a status, or done on the authority of this user. */
type Outcome = { readonly refused: number } | { readonly authority: string };
type Attempts = Readonly<Record<string, () => Promise<Outcome>>>;

const refused = ({ status }: Answer): Outcome => ({ refused: status });
const ask = async (method: string, path: string, by: Holder, body?: object): Promise<Outcome> =>
  refused(await world.ask(method, path, by.key, body));
const onAuthorityOf = async ({ id }: Json): Promise<Outcome> => ({ authority: await world.authorityOf(id) });

/** Attempts on a key of a higher authority. */
const onKey = (make: () => Promise<Json>, by: () => Holder): Attempts => ({
  'PUT /v1/api-keys/{id}': async () =>
    ask('PUT', `/v1/api-keys/${(await make()).id}`, by(), { description: 'Mine' }),
  'POST /v1/api-keys/{id}/rotate': async () =>
    ask('POST', `/v1/api-keys/${(await make()).id}/rotate`, by(), {}),
  'POST /v2/api-keys/{id}/rotate': async () =>
    ask('POST', `/v2/api-keys/${(await make()).id}/rotate`, by(), {}),
});

async function actorOfExport(id: string): Promise<Outcome> {
  const [{ api_key_id: keyId }] = await world.sql('SELECT api_key_id FROM log_exports WHERE id = $1', [id]);
  return onAuthorityOf({ id: keyId });
}

const SIGN_IN = '/v1/admin/organisation/identity-providers';
const PROVIDER = { name: 'X', issuer: 'https://id.example.com', client_id: 'x', client_secret: 'x' };
const ID = '01900000-0000-7000-8000-000000000001';
const REFERENCES = '/v1/secret-references';
const REFERENCE = { name: 'Key', manager_type: 'file', auth_config: {}, secret_path: 'key' };
const MEMBERS = '/v1/admin/workspaces/ws-default/users';
const userPath = ({ id }: Holder, rest = ''): string => `/v1/admin/users/${id}${rest}`;

/** Each operation, by a caller one rank below the authority that it would set up, change or use. */
const FROM_BELOW: Readonly<Record<AuthorityName, { by: () => Holder; attempts: () => Attempts }>> = {
  'signed tokens': {
    by: () => admin,
    attempts: () => ({
      'PUT /v1/admin/organisation/jwt': async () => refused(await world.setTokens(admin.key)),
      'DELETE /v1/admin/organisation/jwt': () => ask('DELETE', '/v1/admin/organisation/jwt', admin),
    }),
  },
  'sign-in rules': {
    by: () => admin,
    attempts: () => ({
      [`POST ${SIGN_IN}`]: () => ask('POST', SIGN_IN, admin, PROVIDER),
      [`PUT ${SIGN_IN}/{id}`]: () => ask('PUT', `${SIGN_IN}/${ID}`, admin, { name: 'X' }),
      [`DELETE ${SIGN_IN}/{id}`]: () => ask('DELETE', `${SIGN_IN}/${ID}`, admin),
      [`DELETE ${SIGN_IN}/{id}/accounts/{userId}`]: () =>
        ask('DELETE', `${SIGN_IN}/${ID}/accounts/${owner.id}`, admin),
      'POST /v1/admin/organisation/sign-in-trials': () =>
        ask('POST', '/v1/admin/organisation/sign-in-trials', admin, PROVIDER),
      'PUT /v1/admin/organisation/sign-in': () =>
        ask('PUT', '/v1/admin/organisation/sign-in', admin, {
          ...{ single_sign_on_required: false, break_glass_user_ids: [] },
        }),
    }),
  },
  'admin key': {
    by: () => admin,
    attempts: () => ({
      ...onKey(
        () => world.adminKey(owner.key),
        () => admin,
      ),
      'POST /v1/api-keys/organisation/service': async () => onAuthorityOf(await world.adminKey(admin.key)),
    }),
  },
  'service key': {
    by: () => manager,
    attempts: () => ({
      ...onKey(
        () => world.serviceKey(admin.key, ['logs.view']),
        () => manager,
      ),
      'POST /v1/api-keys/workspace/service': async () => onAuthorityOf(await world.serviceKey(manager.key)),
    }),
  },
  'user key': {
    by: () => manager,
    attempts: () => ({
      ...onKey(
        () => world.userKey(owner.key, admin),
        () => manager,
      ),
      'POST /v1/api-keys/workspace/user': () =>
        ask('POST', '/v1/api-keys/workspace/user', manager, world.userKeyBody(admin)),
    }),
  },
  invite: {
    by: () => manager,
    attempts: () => ({
      'POST /v1/admin/users/invites': () =>
        ask('POST', '/v1/admin/users/invites', manager, world.inviteBody()),
      'POST /v1/admin/users/invites/{inviteId}/resend': async () =>
        ask('POST', `/v1/admin/users/invites/${(await world.invite(admin.key)).id}/resend`, manager),
    }),
  },
  'role in the organization': {
    by: () => admin,
    attempts: () => ({
      'PUT /v1/admin/users/{userId}': () => ask('PUT', userPath(owner), admin, { role: 'member' }),
      'DELETE /v1/admin/users/{userId}': () => ask('DELETE', userPath(owner), admin, { email: owner.email }),
      'POST /v1/admin/users/{userId}/transfer-ownership': () =>
        ask('POST', userPath(member, '/transfer-ownership'), admin, { step_down: false }),
    }),
  },
  'role in a workspace': {
    by: () => member,
    attempts: () => ({
      'POST /v1/admin/workspaces': () =>
        ask('POST', '/v1/admin/workspaces', manager, { name: 'X', users: [manager.id] }),
      'POST /v1/admin/workspaces/{workspaceId}/users': () =>
        ask('POST', MEMBERS, member, { users: [{ id: owner.id, role: 'manager' }] }),
      'PUT /v1/admin/workspaces/{workspaceId}/users/{userId}': () =>
        ask('PUT', `${MEMBERS}/${member.id}`, member, { role: 'manager' }),
    }),
  },
  'rights of roles': {
    by: () => admin,
    attempts: () => ({
      'PUT /v1/admin/organisation': () =>
        ask('PUT', '/v1/admin/organisation', admin, {
          security_settings: { organisationAdminsViewLogs: false },
        }),
    }),
  },
  'sign-in of others': {
    by: () => admin,
    attempts: () => ({
      'DELETE /v1/admin/users/{userId}/sessions': () => ask('DELETE', userPath(owner, '/sessions'), admin),
      'DELETE /v1/admin/users/{userId}/sessions/{sessionId}': () =>
        ask('DELETE', userPath(owner, `/sessions/${ID}`), admin),
      'DELETE /v1/admin/users/{userId}/second-factors': () =>
        ask('DELETE', userPath(member, '/second-factors'), admin),
    }),
  },
  'secret reference': {
    by: () => manager,
    attempts: () => ({
      [`POST ${REFERENCES}`]: () => ask('POST', REFERENCES, manager, REFERENCE),
      [`PUT ${REFERENCES}/{id}`]: async () =>
        ask('PUT', `${REFERENCES}/${await aReference()}`, manager, { secret_path: 'another' }),
      [`DELETE ${REFERENCES}/{id}`]: async () =>
        ask('DELETE', `${REFERENCES}/${await aReference()}`, manager),
    }),
  },
  'log export': {
    by: () => manager,
    attempts: () => ({
      'POST /v1/logs/exports': async () => actorOfExport((await world.logExport(manager.key)).id),
      'PUT /v1/logs/exports/{id}': async () => {
        const { id } = await world.logExport(await ownersKeyHere());
        await world.ask('PUT', `/v1/logs/exports/${id}`, manager.key, { description: 'Mine' });
        return actorOfExport(id);
      },
      'POST /v1/logs/exports/{id}/start': async () => {
        const { id } = await world.logExport(await ownersKeyHere());
        await world.ask('POST', `/v1/logs/exports/${id}/start`, manager.key);
        return actorOfExport(id);
      },
    }),
  },
  'download link': {
    by: () => manager,
    attempts: () => ({
      'GET /v1/logs/exports/{id}/download': async () => {
        const { searchParams } = new URL(await linkOf(manager.key));
        return onAuthorityOf({ id: searchParams.get('by')?.replace('key-', '') });
      },
    }),
  },
};

const aReference = async (): Promise<string> => (await world.succeed('POST', REFERENCES, REFERENCE)).body.id;
const ownersKeyHere = async (): Promise<string> => (await world.serviceKey(owner.key)).key;

/** A link to the file of a finished export. */
async function linkOf(by: string): Promise<string> {
  const { id } = await world.logExport(by);
  await world.sql(
    "UPDATE log_exports SET status = 'success', expires_at = now() + interval '1 day' WHERE id = $1",
    [id],
  );
  return (await world.ask('GET', `/v1/logs/exports/${id}/download`, by)).body.signed_url;
}

describe('no user gets above their rank', () => {
  it.each(NAMES)('through: %s', async (name) => {
    const { by, attempts } = FROM_BELOW[name];
    const all = attempts();
    expect(Object.keys(all).sort()).toEqual(operationsOf(name).sort());
    for (const [operation, attempt] of Object.entries(all)) {
      const outcome = await attempt();
      if ('refused' in outcome) expect([403, 404], operation).toContain(outcome.refused);
      else expect(outcome.authority, operation).toBe(by().id);
    }
  });
});
