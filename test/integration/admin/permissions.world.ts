import { randomUUID } from 'node:crypto';
import { ChangePublisher } from '../../../src/common/changes/change.js';
import { jwkOf, TestIssuer } from '../../support/tokens.js';
import { AdminApp, type Answer, serviceScopes } from '../../support/admin-app.js';
import type { CallerName, Permission } from './permissions.table.js';

/** What a path names, and the body where that depends on it. */
interface Target {
  readonly id: string;
  readonly body?: object;
}

type TargetKind = NonNullable<Permission['on']>;

/** Everybody who appears in the table of permissions, and the things that they ask for. People come with signed tokens. */
export class PermissionWorld {
  private readonly credentials = new Map<CallerName, string>();
  /** Id of the other organization. */
  private strangers = '';

  private constructor(
    readonly app: AdminApp,
    private readonly issuer: TestIssuer,
  ) {}

  static async make(): Promise<PermissionWorld> {
    const world = new PermissionWorld(await AdminApp.start(), await TestIssuer.start());
    await world.populate();
    return world;
  }

  async close(): Promise<void> {
    await this.issuer.stop();
    await this.app.close();
  }

  /** Makes what is asked for and asks for it, or for `id` in its place. */
  async ask(permission: Permission, caller: CallerName, id?: string): Promise<Answer> {
    const { operation, on, body } = permission;
    await this.acceptTokens();
    const target = on && (await this.targets[on]());
    const [method = '', path = ''] = operation.split(' ');
    const sent = target?.body ?? body;
    return this.app.call(method, path.replace(/\{\w+\}/g, id ?? target?.id ?? ''), {
      key: this.credentials.get(caller) ?? '',
      ...(sent === undefined ? {} : { body: sent }),
    });
  }

  private readonly targets: Readonly<Record<TargetKind, () => Promise<Target>>> = {
    'api key': () => this.app.workspaceKey(['logs.view']),
    'api key in the body': async () => ({
      id: '',
      body: { ids: [(await this.app.workspaceKey(['logs.view'])).id] },
    }),
    'admin key': async () => {
      const body = { name: 'An admin key', scopes: ['logs.view'] };
      return (await this.app.call('POST', '/v1/api-keys/organisation/service', { body })).body;
    },
    'virtual key': async () => {
      const body = { name: 'Asked for', provider: 'openai', key: 'sk-canary', workspace_id: 'ws-default' };
      return { id: (await this.app.call('POST', '/v1/virtual-keys', { body })).body.data.slug };
    },
    log: () => this.logged(),
    setting: async () => ({ id: '' }),
    'new setting': async () => ({ id: '', body: this.setting() }),
    'audit destination': async () => {
      // An organization has a few at most.
      await this.app.dataSource.query('DELETE FROM audit_destinations');
      const body = { name: 'SIEM', url: 'https://siem.example.com/', secret: 'canary-of-a-signature' };
      return { id: (await this.app.call('POST', '/v1/audit-logs/destinations', { body })).body.id };
    },
  };

  private async populate(): Promise<void> {
    const { first } = this.app;
    const elsewhere = await this.app.anotherWorkspace('ws-elsewhere');
    const { organizationId } = await this.app.anotherOrganization();
    this.strangers = organizationId;
    await this.acceptTokens();
    const here = { [first.workspace_id]: 'manager' };
    const people: [CallerName, string, string, Record<string, string>][] = [
      ['owner', first.organisation_id, 'owner', {}],
      ['admin', first.organisation_id, 'admin', {}],
      ['manager', first.organisation_id, 'member', here],
      ['managerElsewhere', first.organisation_id, 'member', { [elsewhere]: 'manager' }],
      ['member', first.organisation_id, 'member', { [first.workspace_id]: 'member' }],
      ['stranger', organizationId, 'owner', {}],
    ];
    for (const [name, ...rest] of people) this.credentials.set(name, await this.person(...rest));
    this.credentials.set('adminKey', first.admin_api_key);
    this.credentials.set('workspaceKey', (await this.app.workspaceKey()).key);
    this.credentials.set('keyElsewhere', (await this.app.workspaceKey(serviceScopes(), elsewhere)).key);
    this.credentials.set('keyWithout', (await this.app.workspaceKey(['mcp.invoke'])).key);
    this.credentials.set('expired', await this.expiredKey());
  }

  /** Before each call: the one before may have taken the setting away. */
  private async acceptTokens(): Promise<void> {
    await this.app.call('PUT', '/v1/admin/organisation/jwt', { body: this.setting() });
    await this.app.dataSource.query(
      `INSERT INTO organization_jwt (organization_id, issuers, rules, keys)
       SELECT $1, issuers, rules, keys FROM organization_jwt WHERE organization_id = $2 ON CONFLICT DO NOTHING`,
      [this.strangers, this.app.first.organisation_id],
    );
    await this.app.app.get(ChangePublisher).publish({ resource: 'organization', id: this.strangers });
  }

  private setting(): object {
    const { issuer, audience, keys, keyId } = this.issuer;
    return { issuers: [issuer], audiences: [audience], jwks: { keys: [jwkOf(keys, keyId)] } };
  }

  private async person(
    organizationId: string,
    role: string,
    workspaces: Record<string, string>,
  ): Promise<string> {
    const [id, email] = [randomUUID(), `${randomUUID()}@example.com`];
    await this.app.dataSource.query(
      'INSERT INTO users (id, organization_id, email, role) VALUES ($1, $2, $3, $4)',
      [id, organizationId, email, role],
    );
    for (const [workspaceId, workspaceRole] of Object.entries(workspaces))
      await this.app.dataSource.query(
        'INSERT INTO workspace_members (workspace_id, user_id, organization_id, role) VALUES ($1, $2, $3, $4)',
        [workspaceId, id, organizationId, workspaceRole],
      );
    return this.issuer.token(organizationId, { email_id: email });
  }

  private async expiredKey(): Promise<string> {
    const { id, key } = await this.app.workspaceKey();
    await this.app.dataSource.query(
      "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1",
      [id],
    );
    return key;
  }

  private async logged(): Promise<Target> {
    const id = randomUUID();
    await this.app.dataSource.query(
      "INSERT INTO request_logs (id, created_at, batch_id, organisation_id, workspace_id, trace_id, method, path, streamed, ending, status, duration_ms, overhead_us, request_bytes, response_bytes, usage_source, attempt_count) VALUES ($1, now(), $1, $2, $3, 't', 'GET', '/', false, 'completed', 200, 1, 1, 1, 1, 'none', 1)",
      [id, this.app.first.organisation_id, this.app.first.workspace_id],
    );
    return { id };
  }
}
