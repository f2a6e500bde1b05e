import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminScopes, AdminApp, type Answer, type Json, serviceScopes } from '../../support/admin-app.js';
import { exportWriter } from '../../support/log-exports.js';
import { TestIssuer } from '../../support/tokens.js';

/** A user, and the key that acts on their authority: an admin key, or for a user of the workspace a service key of it. */
export interface Holder {
  readonly id: string;
  readonly email: string;
  readonly key: string;
}

type Rank = 'owner' | 'admin' | 'manager' | 'member';

const WORKSPACE = 'ws-default';

/** Users of every rank with keys of theirs, for the tests about authority. */
export class AuthorityWorld {
  private constructor(
    readonly app: AdminApp,
    readonly issuer: TestIssuer,
    private readonly folder: string,
  ) {}

  static async make(): Promise<AuthorityWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-authority-'));
    const settings = { GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*', GATEHOUSE_EXPORT_DIR: folder };
    return new AuthorityWorld(await AdminApp.start(settings), await TestIssuer.start(), folder);
  }

  async close(): Promise<void> {
    await this.issuer.stop();
    await this.app.close();
  }

  async holder(rank: Rank): Promise<Holder> {
    const isOfWorkspace = rank === 'manager' || rank === 'member';
    const { id, email } = await this.app.aPerson({
      role: rank === 'admin' ? 'admin' : 'member',
      workspaces: isOfWorkspace ? [{ id: WORKSPACE, role: rank }] : [],
    });
    if (rank === 'owner') await this.sql("UPDATE users SET role = 'owner' WHERE id = $1", [id]);
    const key = isOfWorkspace ? await this.serviceKeyOf(id) : await this.app.adminKeyOf(id);
    return { id, email, key };
  }

  /** As if the user had created it. */
  private async serviceKeyOf(userId: string): Promise<string> {
    const { id, key } = await this.app.workspaceKey();
    await this.sql('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [id, userId]);
    return key;
  }

  ask(method: string, path: string, key: string, body?: object): Promise<Answer> {
    return this.app.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  }

  async made(path: string, key: string, body: object): Promise<Json> {
    const answer = await this.ask('POST', path, key, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body.data ?? answer.body;
  }

  /** The user on whose authority a key acts. */
  async authorityOf(id: string): Promise<string> {
    const [row] = await this.sql(
      'SELECT coalesce(user_id, created_by_user_id) AS id FROM api_keys WHERE id = $1',
      [id],
    );
    return row.id;
  }

  adminKey(by: string): Promise<Json> {
    return this.made('/v1/api-keys/organisation/service', by, { name: 'A key', scopes: adminScopes() });
  }

  serviceKey(by: string, scopes: readonly string[] = serviceScopes()): Promise<Json> {
    return this.made('/v1/api-keys/workspace/service', by, {
      ...{ name: 'A key', workspace_id: WORKSPACE, scopes },
    });
  }

  userKey(by: string, user: Pick<Holder, 'id'>, scopes: readonly string[] = ['logs.view']): Promise<Json> {
    return this.made('/v1/api-keys/workspace/user', by, this.userKeyBody(user, scopes));
  }

  userKeyBody({ id }: Pick<Holder, 'id'>, scopes: readonly string[] = ['logs.view']): object {
    return { name: 'A key', workspace_id: WORKSPACE, user_id: id, scopes };
  }

  invite(by: string, more: object = {}): Promise<Json> {
    return this.made('/v1/admin/users/invites', by, this.inviteBody(more));
  }

  inviteBody(more: object = {}): object {
    return { email: `${randomUUID()}@example.com`, role: 'admin', workspaces: [], ...more };
  }

  logExport(by: string): Promise<Json> {
    return this.made('/v1/logs/exports', by, {
      filters: {},
      requested_data: ['id'],
      workspace_id: WORKSPACE,
    });
  }

  /** As the background process does. */
  write(exportId: string): Promise<string> {
    return exportWriter(this.app.dataSource, { folder: this.folder }).write(exportId);
  }

  /** Changes a role in the organization with the key of the first start. */
  async giveRole({ id }: Pick<Holder, 'id'>, role: 'admin' | 'member'): Promise<void> {
    await this.succeed('PUT', `/v1/admin/users/${id}`, { role });
  }

  async leaveWorkspace({ id }: Pick<Holder, 'id'>): Promise<void> {
    await this.succeed('DELETE', `/v1/admin/workspaces/${WORKSPACE}/users/${id}`);
  }

  async succeed(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await this.ask(method, path, this.app.first.admin_api_key, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer;
  }

  /** Sets the tokens of the test's issuer, also in the place of what is set. */
  async setTokens(key: string, more: object = {}): Promise<Answer> {
    const body = this.issuer.setting({ jwks_uri: undefined, jwks: this.issuer.jwks(), ...more });
    const first = await this.ask('PUT', '/v1/admin/organisation/jwt', key, body);
    if (first.status !== 428) return first;
    return this.app.call('PUT', '/v1/admin/organisation/jwt', { key, body, headers: { 'if-match': '*' } });
  }

  /** The status of a request with a token that names a user. */
  async tokenFor({ email }: Pick<Holder, 'email'>): Promise<number> {
    const token = this.issuer.token(this.app.first.organisation_id, { email_id: email });
    return (await this.ask('GET', '/v1/admin/me', token)).status;
  }

  /** The status of a request with a token that names no user, for the workspace. */
  async tokenOfService(): Promise<number> {
    const claims = { workspace_slug: WORKSPACE, scope: 'virtual_keys.list' };
    const token = this.issuer.token(this.app.first.organisation_id, claims);
    return (await this.ask('GET', '/v1/virtual-keys', token)).status;
  }

  sql(text: string, parameters: readonly unknown[] = []): Promise<Json> {
    return this.app.dataSource.query(text, [...parameters]);
  }
}
