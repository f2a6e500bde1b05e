import { randomUUID } from 'node:crypto';
import { currentKey } from '../../../src/admin/limits/limits.service.js';
import type { AdminApp, Json } from '../../support/admin-app.js';
import type { TestIssuer } from '../../support/tokens.js';
import { CREATED, type SpecialThingName, type ThingName } from './permissions.table.js';

/** What a path and a body name. */
export interface Thing {
  /** Values for the parameters of the path, in their order. */
  readonly path: readonly string[];
  /** Of the address, with its question mark. */
  readonly query?: string;
  readonly body?: object;
}

const HERE = { workspace_id: 'ws-default' };

/** Makes everything that the table of permissions asks for: in this workspace, or of its organization. */
export class PermissionThings {
  constructor(
    private readonly app: AdminApp,
    private readonly issuer: TestIssuer,
  ) {}

  async make(name: ThingName): Promise<Thing> {
    if (!isCreated(name)) return this.makers[name]();
    const { path, body, by } = CREATED[name];
    return at((await this.made(path, body))[by]);
  }

  /** What an organization says that accepts the tokens of these tests. */
  signedTokens(): object {
    return this.issuer.setting({ jwks_uri: undefined, jwks: this.issuer.jwks(), allow_owners: true });
  }

  private readonly makers: Readonly<Record<SpecialThingName, () => Promise<Thing>>> = {
    'API key': async () => at(await this.key()),
    'API key in the body': async () => ({ path: [], body: { ids: [await this.key()] } }),
    'API key of somebody else': async () => {
      const { id: user_id } = await this.person({ [this.app.first.workspace_id]: 'member' });
      return at((await this.made('api-keys/workspace/user', { ...aKey(), ...HERE, user_id })).id);
    },
    'API key of a manager': async () => at(await this.keyOfManager()),
    'audit destination': async () => {
      const { body } = await this.newDestination();
      return at((await this.made('audit-logs/destinations', body)).id);
    },
    'new audit destination': () => this.newDestination(),
    config: async () => at((await this.config()).slug),
    'config version': async () => {
      const { slug, version_id } = await this.config();
      return at(slug, version_id);
    },
    'config version in the body': async () => {
      const { slug, version_id } = await this.config();
      return { ...at(slug), body: { version_id } };
    },
    feedback: () => this.feedback(),
    'guardrail of the organization': async () =>
      at((await this.made('guardrails', this.sharedGuardrail())).slug),
    'new guardrail of the organization': async () => ({ path: [], body: this.sharedGuardrail() }),
    integration: async () => at((await this.integration(HERE)).slug),
    'integration of the organization': async () => at((await this.lent()).slug),
    'model of the integration': async () => {
      const { slug } = await this.integration(HERE);
      const body = { models: [{ slug: 'gpt-4o', enabled: false }] };
      await this.app.call('PUT', `/v1/integrations/${slug}/models`, { body });
      return { ...at(slug), query: '?slugs=gpt-4o' };
    },
    invite: async () => at((await this.made('admin/users/invites', anInvite())).id),
    'new invite': async () => ({ path: [], body: anInvite() }),
    log: () => this.logged(),
    'analytics job': async () => at(await this.analyticsJob()),
    'log export': async () => at(await this.logExport()),
    'finished log export': async () => {
      const id = await this.logExport();
      await this.sql(
        "UPDATE log_exports SET status = 'success', expires_at = now() + interval '1 day' WHERE id = $1",
        [id],
      );
      return at(id);
    },
    trace: async () => ({ path: [(await this.logged(`t-${randomUUID()}`)).path[1] ?? ''] }),
    member: async () => at('ws-default', (await this.person({ [this.app.first.workspace_id]: 'member' })).id),
    'new member': async () => ({
      ...at('ws-default'),
      body: { users: [{ id: (await this.person()).id, role: 'member' }] },
    }),
    'new provider': async () => ({
      path: [],
      body: { name: 'A provider', integration_id: (await this.lent()).slug, ...HERE },
    }),
    person: () => this.confirmed('member'),
    'person with sessions': async () => at((await this.person()).id),
    'owner with sessions': async () => at((await this.person({}, { role: 'owner' })).id),
    'person with a second factor': async () => {
      const { id } = await this.person();
      await this.sql(
        'INSERT INTO user_credentials (user_id, organization_id, totp_confirmed_at) VALUES ($1, $2, now())',
        [id, this.app.first.organisation_id],
      );
      return at(id);
    },
    'session of a person': async () => {
      const { id } = await this.person();
      const session = randomUUID();
      await this.sql(
        'INSERT INTO sessions (id, organization_id, user_id, secret_hash, method, ip) VALUES ($1, $2, $3, $4, $5, $6)',
        [
          session,
          this.app.first.organisation_id,
          id,
          Buffer.from(session.replaceAll('-', '')),
          'password',
          '192.0.2.7',
        ],
      );
      return at(id, session);
    },
    owner: () => this.confirmed('owner'),
    price: async () => {
      const path = ['openai', `model-${randomUUID()}`];
      await this.app.call('PUT', `/v1/model-configs/pricing/${path.join('/')}`, { body: aPrice() });
      return { path, body: aPrice() };
    },
    provider: async () => {
      const body = { name: 'A provider', integration_id: (await this.lent()).slug, ...HERE };
      return at((await this.made('providers', body)).slug);
    },
    'use of a policy': () => this.use(),
    'signed tokens': async () => at(),
    'new identity provider': async () => ({ path: [], body: await this.identityProvider() }),
    'identity provider': async () => at((await this.madeProvider()).id),
    'linked account': async () => {
      const { id } = await this.madeProvider();
      const { id: userId } = await this.person({});
      await this.app.dataSource.query(
        'INSERT INTO user_identities (provider_id, subject, organization_id, user_id) VALUES ($1, $2, $3, $4)',
        [id, randomUUID(), this.app.first.organisation_id, userId],
      );
      return at(id, userId);
    },
    'sign-in trial': async () =>
      at((await this.made('admin/organisation/sign-in-trials', await this.identityProvider())).id),
    'new signed tokens': async () => ({ path: [], body: this.signedTokens() }),
    'this workspace': async () => at('ws-default'),
    'budget of a virtual key': () => this.budget(),
    'virtual key': () => this.virtualKey(),
    'virtual key of the sandbox': () => this.virtualKey({ provider: 'sandbox', key: undefined }),
    'virtual key for another workspace': async () => ({
      ...(await this.virtualKey()),
      body: { workspace_id: 'ws-third' },
    }),
    workspace: async () => {
      const slug = `ws-${randomUUID()}`;
      return { ...at(await this.app.anotherWorkspace(slug)), query: `?name=${slug}` };
    },
  };

  /** At an address of this machine that publishes what a provider must. */
  private async identityProvider(): Promise<object> {
    const issuer = new URL(this.issuer.uri).origin;
    const metadata = {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      jwks_uri: this.issuer.uri,
    };
    this.issuer.answer = (response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    return { name: 'Directory', issuer, client_id: 'gatehouse', client_secret: 'sso-canary' };
  }

  /** An organization has twenty at most, so the oldest go. */
  private async madeProvider(): Promise<Json> {
    await this.app.dataSource.query(
      'DELETE FROM identity_providers WHERE id IN (SELECT id FROM identity_providers ORDER BY id DESC OFFSET 15)',
    );
    return this.made('admin/organisation/identity-providers', await this.identityProvider());
  }

  private async made(path: string, body: object): Promise<Json> {
    const answer = await this.app.call('POST', `/v1/${path}`, { body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  }

  private async key(): Promise<string> {
    return (await this.app.workspaceKey(['logs.view'])).id;
  }

  /** As if a manager of this workspace had made it. */
  private async keyOfManager(): Promise<string> {
    const manager = await this.person({ [this.app.first.workspace_id]: 'manager' });
    const id = await this.key();
    await this.sql('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [id, manager.id]);
    return id;
  }

  private async config(): Promise<Json> {
    const body = { name: 'A config', config: { retry: { attempts: 1 } }, ...HERE };
    return (await this.made('configs', body)).data;
  }

  private integration(more: object): Promise<Json> {
    return this.made('integrations', { name: 'Ours', ai_provider_id: 'openai', key: 'sk-canary', ...more });
  }

  /** An integration of the organization that this workspace may use. */
  private async lent(): Promise<Json> {
    const integration = await this.integration({});
    await this.app.call('PUT', `/v1/integrations/${integration.slug}/workspaces`, {
      body: { workspaces: [{ id: 'ws-default', enabled: true }], create_default_provider: false },
    });
    return integration;
  }

  private async virtualKey(more: object = {}): Promise<Thing> {
    const body = { name: 'Asked for', provider: 'openai', key: 'sk-canary', ...HERE, ...more };
    return at((await this.made('virtual-keys', body)).data.slug);
  }

  private async budget(): Promise<Thing> {
    const usage_limits = { credit_limit: 10, type: 'cost', periodic_reset: 'monthly' };
    const body = { name: 'Limited', provider: 'sandbox', usage_limits, ...HERE };
    const { slug } = (await this.made('virtual-keys', body)).data;
    const { data } = (await this.app.call('GET', '/v1/limits?page_size=100')).body;
    return at(data.find((limit: Json) => limit.applies_to.slug === slug).id);
  }

  private sharedGuardrail(): object {
    const { name, checks } = CREATED.guardrail.body;
    return { name, checks, organisation_id: this.app.first.organisation_id };
  }

  private async feedback(): Promise<Thing> {
    const id = randomUUID();
    await this.sql(
      "INSERT INTO feedback (id, organization_id, workspace_id, trace_id, value, weight) VALUES ($1, $2, $3, 't', 1, 1)",
      [id, this.app.first.organisation_id, this.app.first.workspace_id],
    );
    return at(id);
  }

  private async logged(trace = 't'): Promise<Thing> {
    const id = randomUUID();
    await this.sql(
      "INSERT INTO request_logs (id, created_at, batch_id, organisation_id, workspace_id, trace_id, method, path, streamed, ending, status, duration_ms, overhead_us, request_bytes, response_bytes, usage_source, attempt_count) VALUES ($1, now(), $1, $2, $3, $4, 'GET', '/', false, 'completed', 200, 1, 1, 1, 1, 'none', 1)",
      [id, this.app.first.organisation_id, this.app.first.workspace_id, trace],
    );
    return at(id, trace);
  }

  /** Few may run at once. */
  /** Of requests of this workspace, not counted yet. */
  private async analyticsJob(): Promise<string> {
    const { organisation_id, workspace_id } = this.app.first;
    await this.sql('DELETE FROM analytics_jobs', []);
    const id = randomUUID();
    const query = { groupBy: 'model', by: { kind: 'dimension', dimension: 'model' }, filters: {}, view: {} };
    await this.sql(
      `INSERT INTO analytics_jobs (id, organization_id, workspace_id, identity, query, from_at, to_at, cursor_at, expires_at)
       VALUES ($1::uuid, $2, $3, 'of a test', $4, now() - interval '1 day', now(), now() - interval '1 day', now() + interval '1 day')`,
      [id, organisation_id, workspace_id, query],
    );
    return id;
  }

  private async logExport(): Promise<string> {
    await this.sql("DELETE FROM log_exports WHERE status = 'in_progress'", []);
    return (await this.made('logs/exports', { filters: {}, requested_data: ['id'], ...HERE })).id;
  }

  /** An organization has a few at most. */
  private async newDestination(): Promise<{ path: string[]; body: object }> {
    await this.sql('DELETE FROM audit_destinations', []);
    const body = { name: 'SIEM', url: 'https://siem.example.com/', secret: 'canary-of-a-signature' };
    return { path: [], body };
  }

  /** Somebody, and the word that confirms a deletion. */
  private async confirmed(role: string): Promise<Thing> {
    const { id, email } = await this.person({}, { role });
    return { ...at(id), query: `?confirm=${email}` };
  }

  /** A budget of which one key has used something. */
  private async use(): Promise<Thing> {
    const {
      path: [id = ''],
    } = await this.make('usage policy');
    const [{ budget }] = await this.sql('SELECT budget FROM limit_policies WHERE id = $1', [id]);
    const group = randomUUID().replaceAll('-', '');
    await this.sql(
      "INSERT INTO limit_counters (key, organization_id, limit_id, measure, group_text, spent, amount) VALUES ($1, $2, $3, 'cost', $4, 1, 9)",
      [currentKey(budget, group), this.app.first.organisation_id, budget.id, `api_key:${group}`],
    );
    return at(id, group);
  }

  /** Somebody of this organization, or of another. */
  async person(
    workspaces: Readonly<Record<string, string>> = {},
    { role = 'member', organizationId = this.app.first.organisation_id } = {},
  ): Promise<{ id: string; email: string }> {
    const [id, email] = [randomUUID(), `${randomUUID()}@example.com`];
    await this.sql('INSERT INTO users (id, organization_id, email, role) VALUES ($1, $2, $3, $4)', [
      id,
      organizationId,
      email,
      role,
    ]);
    for (const [workspaceId, workspaceRole] of Object.entries(workspaces))
      await this.sql(
        'INSERT INTO workspace_members (workspace_id, user_id, organization_id, role) VALUES ($1, $2, $3, $4)',
        [workspaceId, id, organizationId, workspaceRole],
      );
    return { id, email };
  }

  private sql(text: string, parameters: unknown[]): Promise<Json> {
    return this.app.dataSource.query(text, parameters);
  }
}

const isCreated = (name: ThingName): name is keyof typeof CREATED => name in CREATED;

const at = (...path: string[]): Thing => ({ path });
const aKey = () => ({ name: 'A key', scopes: ['logs.view'] });
const anInvite = () => ({ email: `${randomUUID()}@example.com`, role: 'member', workspaces: [] });
const aPrice = () => ({ pay_as_you_go: { request_token: { price: 1 }, response_token: { price: 1 } } });
