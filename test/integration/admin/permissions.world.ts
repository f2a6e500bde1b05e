import { randomUUID } from 'node:crypto';
import { ChangePublisher } from '../../../src/common/changes/change.js';
import { AdminApp, type Answer, serviceScopes } from '../../support/admin-app.js';
import { TestIssuer } from '../../support/tokens.js';
import type { CallerName, Permission, ThingName } from './permissions.table.js';
import { PermissionThings, type Thing } from './permissions.things.js';

export interface AskedFor {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
}

const NOTHING: Thing = { path: [] };

/** Everybody who appears in the table of permissions, and what they ask for. People come with signed tokens. */
export class PermissionWorld {
  private addresses = 0;
  private readonly credentials = new Map<CallerName, string>();
  /** A thing serves until a call has changed it. */
  private readonly known = new Map<ThingName, Promise<Thing>>();
  private readonly things: PermissionThings;
  /** Id of the other organization. */
  private strangers = '';
  private strangersOwner = '';

  private constructor(
    readonly app: AdminApp,
    private readonly issuer: TestIssuer,
  ) {
    this.things = new PermissionThings(app, issuer);
  }

  static async make(): Promise<PermissionWorld> {
    const world = new PermissionWorld(
      await AdminApp.start({ GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*' }),
      await TestIssuer.start(),
    );
    await world.populate();
    return world;
  }

  async close(): Promise<void> {
    await this.issuer.stop();
    await this.app.close();
  }

  /** Asks for the thing of a line, or for one that is not there. */
  async ask(permission: Permission, caller: CallerName, isThere = true): Promise<Answer> {
    const answer = await this.send(await this.requestOf(permission, isThere), caller);
    if (answer.status < 300) await this.used(permission);
    return answer;
  }

  /** What a line asks for. The thing of a line serves until it is said to be used. */
  async requestOf({ operation, on, body }: Permission, isThere = true): Promise<AskedFor> {
    const thing = on ? await this.thing(on) : NOTHING;
    const named = { ...thing, body: thing.body ?? body };
    const asked = isThere ? named : absent(named);
    const [method = '', path = ''] = operation.split(' ');
    const left = [...asked.path];
    // Queries of things confirm or name what is deleted; other operations do not know them.
    const query = method === 'DELETE' ? (asked.query ?? '') : '';
    const url = path.replace(/\{\w+\}/g, () => left.shift() ?? 'model') + query;
    return { method, url, ...(asked.body === undefined ? {} : { body: asked.body }) };
  }

  send({ method, url, body }: AskedFor, caller: CallerName): Promise<Answer> {
    return this.app.call(method, url, {
      key: this.credentials.get(caller) ?? '',
      from: this.anotherAddress(),
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Somebody was let in: what was changed is made anew for the next one. */
  async used({ operation, on }: Permission): Promise<void> {
    if (!on || operation.startsWith('GET')) return;
    this.known.delete(on);
    if (on === 'signed tokens') await this.acceptTokens();
  }

  /** Refused as often from one address, a caller would be taken for somebody who guesses. */
  private anotherAddress(): string {
    this.addresses += 1;
    return `10.1.${this.addresses >> 8}.${this.addresses & 255}`;
  }

  private thing(on: ThingName): Promise<Thing> {
    const thing = this.known.get(on) ?? this.things.make(on);
    this.known.set(on, thing);
    return thing;
  }

  private async populate(): Promise<void> {
    const { first } = this.app;
    const elsewhere = await this.app.anotherWorkspace('ws-elsewhere');
    await this.app.anotherWorkspace('ws-third');
    this.strangers = (await this.app.anotherOrganization()).organizationId;
    this.strangersOwner = (
      await this.things.person({}, { role: 'owner', organizationId: this.strangers })
    ).id;
    await this.acceptTokens();
    await this.person('owner', {}, { role: 'owner' });
    await this.person('admin', {}, { role: 'admin' });
    await this.person('manager', { [first.workspace_id]: 'manager' });
    await this.person('managerElsewhere', { [elsewhere]: 'manager' });
    await this.person('member', { [first.workspace_id]: 'member' });
    await this.person('stranger', {}, { role: 'owner', organizationId: this.strangers });
    this.credentials.set('adminKey', first.admin_api_key);
    this.credentials.set('workspaceKey', (await this.app.workspaceKey()).key);
    this.credentials.set('keyElsewhere', (await this.app.workspaceKey(serviceScopes(), elsewhere)).key);
    this.credentials.set('keyWithout', (await this.app.workspaceKey(['mcp.invoke'])).key);
    this.credentials.set('expired', await this.expiredKey());
  }

  private async acceptTokens(): Promise<void> {
    await this.app.call('PUT', '/v1/admin/organisation/jwt', { body: this.things.signedTokens() });
    await this.app.dataSource.query(
      `INSERT INTO organization_jwt (organization_id, author_id, issuers, rules, keys)
       SELECT $1, $3, issuers, rules, keys FROM organization_jwt WHERE organization_id = $2 ON CONFLICT DO NOTHING`,
      [this.strangers, this.app.first.organisation_id, this.strangersOwner],
    );
    await this.app.app.get(ChangePublisher).publish({ resource: 'organization', id: this.strangers });
  }

  private async person(
    name: CallerName,
    workspaces: Readonly<Record<string, string>>,
    more: { role?: string; organizationId?: string } = {},
  ): Promise<void> {
    const { email } = await this.things.person(workspaces, more);
    const organizationId = more.organizationId ?? this.app.first.organisation_id;
    this.credentials.set(name, this.issuer.token(organizationId, { email_id: email }));
  }

  private async expiredKey(): Promise<string> {
    const { id, key } = await this.app.workspaceKey();
    await this.app.dataSource.query(
      "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1",
      [id],
    );
    return key;
  }
}

const NAMES_WHERE = ['workspace_id', 'organisation_id'];

/** The same request for what nobody has. */
function absent({ path, query, body }: Thing): Thing {
  const changed = Object.entries(body ?? {}).map(([name, value]: [string, unknown]) => [
    name,
    NAMES_WHERE.includes(name) ? randomUUID() : name === 'ids' ? [randomUUID()] : value,
  ]);
  return {
    path: path.map((value, index) => (index === 0 ? randomUUID() : value)),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: Object.fromEntries(changed) as object }),
  };
}
