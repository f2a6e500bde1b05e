import { randomBytes, randomUUID } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { GenaiModelCatalog } from '../../src/adapters/prices/genai-model-catalog.js';
import { GenaiPriceBook } from '../../src/adapters/prices/genai-price-book.js';
import { PostgresApiKeyDirectory } from '../../src/adapters/directories/postgres-api-key-directory.js';
import { AdminModule } from '../../src/admin/admin.module.js';
import { bootstrap, type BootstrapResult } from '../../src/admin/bootstrap/bootstrap.js';
import { buildAdministrationApi } from '../../src/admin/openapi/document.js';
import { createAdapter } from '../../src/admin/http/adapter.js';
import { configureAdmin } from '../../src/admin/configure.js';
import { PostgresRateUse } from '../../src/adapters/limits/postgres-rate-use.js';
import { PostgresCurrentRights } from '../../src/adapters/directories/postgres-current-rights.js';
import { PostgresSessionDirectory } from '../../src/adapters/sessions/postgres-session-directory.js';
import { PostgresTokenDirectory } from '../../src/adapters/tokens/postgres-token-directory.js';
import { ApiKeyDirectory, CurrentRights, SessionDirectory, TokenDirectory } from '../../src/auth/ports.js';
import { type Scope, SCOPES } from '../../src/auth/scopes.js';
import { type Change, type ChangeFeed, ChangePublisher } from '../../src/common/changes/change.js';
import { SecretBox } from '../../src/common/crypto/envelope.js';
import { Secret } from '../../src/common/settings/secret.js';
import { RateUse } from '../../src/common/limits/rate-use.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { Egress } from '../../src/egress/egress.js';
import { SecretManagers } from '../../src/external-credentials/secret-managers/secret-managers.js';
import { MachineIdentity } from '../../src/external-credentials/workload-identity/machine-identity.js';
import { WorkloadIdentity } from '../../src/external-credentials/workload-identity/workload-identity.js';
import { ClientAddresses } from '../../src/common/http/client-address.js';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import { loadSettings, type Settings } from '../../src/common/settings/settings.js';
import type { ClickHouse } from '../../src/request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE } from '../../src/request-log/analytics/clickhouse/clickhouse.module.js';
import { ModelCatalog } from '../../src/providers/models/model-catalog.js';
import { PriceBook } from '../../src/providers/prices/price-book.js';
import { Contract } from './contract.js';
import { anotherDataSource, freshDatabase } from './database.js';
import { clickHouseUnderTest } from './usage-store.js';

/** Hands changes on after their commit, within the process, and remembers them. */
class LocalChanges extends ChangePublisher implements ChangeFeed {
  readonly published: Change[] = [];
  private readonly listeners: ((change: Change | null) => void)[] = [];

  constructor(private readonly unitOfWork: UnitOfWork) {
    super();
  }

  override async publish(change: Change): Promise<void> {
    this.unitOfWork.afterCommit(() => {
      this.published.push(change);
      for (const listener of this.listeners) listener(change);
    });
  }

  subscribe(listener: (change: Change | null) => void): void {
    this.listeners.push(listener);
  }
}

/** What stands behind the administration's ports in these tests: the real directories, and of the network what is allowed. */
function adaptersFor(
  dataSource: DataSource,
  pepper: Secret,
  { egressAllow, sessions, externalCredentials }: Settings,
) {
  @Global()
  @Module({
    providers: [
      {
        provide: ChangePublisher,
        inject: [UnitOfWork],
        useFactory: (unit: UnitOfWork) => new LocalChanges(unit),
      },
      {
        provide: ApiKeyDirectory,
        inject: [ChangePublisher],
        useFactory: (changes: LocalChanges) =>
          new PostgresApiKeyDirectory(dataSource, changes, { pepper, staleKeysMs: 0 }),
      },
      {
        provide: TokenDirectory,
        inject: [ChangePublisher, Egress],
        useFactory: (changes: LocalChanges, egress: Egress) =>
          new PostgresTokenDirectory(dataSource, changes, egress, 0),
      },
      {
        provide: SessionDirectory,
        inject: [ChangePublisher],
        useFactory: (changes: LocalChanges) =>
          new PostgresSessionDirectory(dataSource, changes, pepper, sessions),
      },
      { provide: CurrentRights, useFactory: () => new PostgresCurrentRights(dataSource) },
      {
        provide: RateUse,
        inject: [UnitOfWork],
        useFactory: (work: UnitOfWork) => PostgresRateUse.within(work),
      },
      { provide: PriceBook, useFactory: () => new GenaiPriceBook() },
      { provide: ModelCatalog, useFactory: () => new GenaiModelCatalog() },
      { provide: ClientAddresses, useFactory: () => new ClientAddresses([]) },
      {
        provide: Egress,
        useFactory: () => new Egress({ allow: egressAllow, timeouts: { connectMs: 1000 } }),
      },
      {
        provide: WorkloadIdentity,
        inject: [Egress],
        useFactory: (egress: Egress) => new MachineIdentity(egress, externalCredentials),
      },
      {
        provide: SecretManagers,
        inject: [Egress, WorkloadIdentity],
        useFactory: (egress: Egress, identity: WorkloadIdentity) =>
          new SecretManagers(egress, identity, externalCredentials.folder),
      },
    ],
    exports: [
      ChangePublisher,
      ClientAddresses,
      ApiKeyDirectory,
      CurrentRights,
      RateUse,
      SessionDirectory,
      TokenDirectory,
      Egress,
      PriceBook,
      ModelCatalog,
      SecretManagers,
      WorkloadIdentity,
    ],
  })
  class AdaptersForTests {}
  return AdaptersForTests;
}

/** What JSON holds, unchecked: the tests look at it themselves. */
export type Json = ReturnType<JSON['parse']>;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: Json;
}

interface Call {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Address of the client. */
  readonly from?: string;
}

/** What an administration of these tests stands on. */
interface Stores {
  readonly dataSource: DataSource;
  readonly url: string;
  readonly clickhouse: ClickHouse | null;
  readonly drop: () => Promise<void>;
}

/** Tests have logs of fixed days, which must not be over one day. */
const KEEP_ALL = { GATEHOUSE_LOG_RETENTION_DAYS: '0', GATEHOUSE_BODY_RETENTION_DAYS: '0' };

let contract: Contract | null = null;
/** Settings do not change the document, so the applications of a process share it and its compiled schemas. */
const contractOf = (app: NestFastifyApplication): Contract =>
  (contract ??= new Contract(buildAdministrationApi(app)));

/** The administration alone, on a database of its own. */
export class AdminApp {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly dataSource: DataSource,
    readonly url: string,
    readonly first: BootstrapResult,
    readonly box: SecretBox,
    readonly settings: Settings,
    private readonly contract: Contract,
    readonly close: () => Promise<void>,
  ) {}

  /**
   * `environment`: settings besides those of the stores. `clickhouse`: where stored requests go and are counted, if not PostgreSQL alone.
   * `isPatient`: whether statements may take longer than the service gives them.
   */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    clickhouse: ClickHouse | null = clickHouseUnderTest(),
    isPatient = true,
  ): Promise<AdminApp> {
    const database = await freshDatabase(isPatient);
    const { dataSource, url } = database;
    const key = () => randomBytes(32).toString('base64');
    const settings = loadSettings({
      ...KEEP_ALL,
      ...environment,
      DATABASE_URL: url,
      GATEHOUSE_MASTER_KEY: key(),
      GATEHOUSE_KEY_PEPPER: key(),
    });
    const { masterKey, keyPepper } = settings as { masterKey: Secret; keyPepper: Secret };
    const first = await bootstrap(dataSource, { masterKey, keyPepper }, async () => undefined);
    const stores = { dataSource, url, clickhouse, drop: () => database.drop() };
    return AdminApp.on(stores, first as BootstrapResult, settings);
  }

  /** Another process of this administration, with its own connections to the same database. Settings may differ after a restart. */
  async another(changed: Partial<Settings> = {}, clickhouse: ClickHouse | null = null): Promise<AdminApp> {
    const dataSource = await anotherDataSource(this.url);
    const drop = async () => {
      if (dataSource.isInitialized) await dataSource.destroy();
    };
    const stores = { dataSource, url: this.url, clickhouse, drop };
    return AdminApp.on(stores, this.first, { ...this.settings, ...changed });
  }

  private static async on(
    { dataSource, url, clickhouse, drop }: Stores,
    first: BootstrapResult,
    settings: Settings,
  ): Promise<AdminApp> {
    const { masterKey, keyPepper } = settings as { masterKey: Secret; keyPepper: Secret };
    const module = await Test.createTestingModule({
      imports: [
        SettingsModule.forRoot(settings),
        DatabaseModule.forRoot(dataSource),
        adaptersFor(dataSource, keyPepper, settings),
        AdminModule,
      ],
    })
      .overrideProvider(CLICKHOUSE)
      .useValue(clickhouse)
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(createAdapter());
    app.useLogger(false);
    configureAdmin(app);
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return new AdminApp(
      app,
      dataSource,
      url,
      first,
      new SecretBox(masterKey),
      settings,
      contractOf(app),
      async () => {
        // A client of the test may keep its connection for a minute, and the server would wait for it.
        app.getHttpServer().closeAllConnections();
        await app.close();
        await drop();
      },
    );
  }

  get changes(): readonly Change[] {
    return this.app.get<LocalChanges>(ChangePublisher).published;
  }

  /** With the admin key of the first start, unless another or null is said. Every answer is held against the OpenAPI document. */
  async call(
    method: string,
    path: string,
    { key = this.first.admin_api_key, body, headers, from }: Call = {},
  ): Promise<Answer> {
    const isText = typeof body === 'string';
    const answer = await this.app.inject({
      method: method as 'GET',
      url: path,
      ...(from === undefined ? {} : { remoteAddress: from }),
      headers: {
        ...(key === '' ? {} : { 'x-gateway-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: isText ? body : JSON.stringify(body) }),
    });
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    const parsed: Json = isJson && answer.payload !== '' ? JSON.parse(answer.payload) : null;
    const found = { status: answer.statusCode, headers: answer.headers, text: answer.payload, body: parsed };
    const mistakes = this.contract.mistakes(method, path, found);
    if (mistakes.length > 0) throw new Error(`Not as the OpenAPI document says:\n${mistakes.join('\n')}`);
    return found;
  }

  /** A workspace service key; with all that it may carry, unless scopes are said. */
  async workspaceKey(
    scopes = serviceScopes(),
    workspace_id: string = this.first.workspace_id,
  ): Promise<{ id: string; key: string }> {
    const body = { name: 'A key', workspace_id, scopes };
    return (await this.call('POST', '/v1/api-keys/workspace/service', { body })).body;
  }

  /** An admin key that acts on the authority of a person. */
  async adminKeyOf(userId: string): Promise<string> {
    const { id, key } = (
      await this.call('POST', '/v1/api-keys/organisation/service', {
        body: { name: 'Of a person', scopes: adminScopes() },
      })
    ).body;
    await this.dataSource.query('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [id, userId]);
    return key;
  }

  /** A person who has accepted an invite. */
  async aPerson(more: object = {}): Promise<{ id: string; email: string; keys: Json[] }> {
    const email = `p-${randomBytes(6).toString('hex')}@example.com`;
    const invite = await this.call('POST', '/v1/admin/users/invites', {
      body: { email, role: 'member', workspaces: [], ...more },
    });
    const accepted = await this.call('POST', '/v1/admin/invites/accept', {
      key: '',
      body: { token: tokenOf(invite.body.invite_link), first_name: 'Ada', last_name: 'Lovelace' },
    });
    if (accepted.status !== 200) throw new Error(accepted.text);
    return { id: accepted.body.user_id, email, keys: accepted.body.api_keys };
  }

  /** A person of the organization with a role that no invite gives. */
  async anOwner(): Promise<string> {
    const { id } = await this.aPerson();
    await this.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [id]);
    return id;
  }

  /** Another workspace of the same organization. */
  async anotherWorkspace(slug: string): Promise<string> {
    const id = randomUUID();
    await this.dataSource.query(
      'INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $3)',
      [id, this.first.organisation_id, slug],
    );
    return id;
  }

  /** Another organization with a workspace; answers their ids. */
  async anotherOrganization(): Promise<{ organizationId: string; workspaceId: string }> {
    const [organizationId, workspaceId] = [randomUUID(), randomUUID()];
    const { wrapped } = this.box.makeOrganizationKey(organizationId);
    await this.dataSource.query('INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, $2, $3)', [
      organizationId,
      'B',
      wrapped,
    ]);
    await this.dataSource.query(
      "INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, 'wB', 'ws-b')",
      [workspaceId, organizationId],
    );
    return { organizationId, workspaceId };
  }

  /** The audit trail, oldest first. */
  async audited(): Promise<Json[]> {
    return this.dataSource.query('SELECT * FROM audit_records ORDER BY seq');
  }
}

export function serviceScopes(): Scope[] {
  return (Object.keys(SCOPES) as Scope[]).filter((scope) => SCOPES[scope].service);
}

export function adminScopes(): Scope[] {
  return (Object.keys(SCOPES) as Scope[]).filter((scope) => SCOPES[scope].admin);
}

/** What stands behind the `#` of an invite's link. */
export const tokenOf = (link: string): string => link.slice(link.indexOf('#') + 1);
