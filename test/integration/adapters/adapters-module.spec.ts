import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresChangeFeed } from '../../../src/adapters/changes/postgres-change-feed.js';
import { PostgresChangePublisher } from '../../../src/adapters/changes/postgres-change-publisher.js';
import { RedisChangeFeed } from '../../../src/adapters/changes/redis-change-feed.js';
import { RedisChangePublisher } from '../../../src/adapters/changes/redis-change-publisher.js';
import { AdminAdaptersModule } from '../../../src/adapters/admin-adapters.module.js';
import { AppModule } from '../../../src/app.module.js';
import { ApiKeyDirectory } from '../../../src/auth/ports.js';
import { ChangeFeed, ChangePublisher } from '../../../src/common/changes/change.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { QueryPool } from '../../../src/database/sessions/query-pool.js';
import { Egress } from '../../../src/egress/egress.js';
import { ClientAddresses } from '../../../src/common/http/client-address.js';
import { SettingsModule } from '../../../src/common/settings/settings.module.js';
import { loadSettings } from '../../../src/common/settings/settings.js';
import { LogSink, PriceBook, VirtualKeyDirectory } from '../../../src/gateway/ports.js';
import { type TestDatabase, freshDatabase } from '../../support/database.js';
import { startFakeRedis } from '../../support/fake-redis.js';

let database: TestDatabase;
const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-adapters-'));

beforeAll(async () => {
  database = await freshDatabase();
});

afterAll(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

type Environment = Readonly<Record<string, string>>;

const key = () => randomBytes(32).toString('base64');
const settingsWith = (environment: Environment) =>
  loadSettings({
    DATABASE_URL: database.url,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_MASTER_KEY: key(),
    GATEHOUSE_KEY_PEPPER: key(),
    GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:9100',
    ...environment,
  });
const ofGateway = (environment: Environment = {}) => {
  const pool = new QueryPool(database.url, 2);
  return Test.createTestingModule({
    imports: [AppModule.register(settingsWith(environment), pool)],
  }).compile();
};
const ofAdministration = async (environment: Environment = {}) => {
  const dataSource = await createDataSource(database.url, 2).initialize();
  const settings = SettingsModule.forRoot(settingsWith(environment));
  const imports = [settings, DatabaseModule.forRoot(dataSource), AdminAdaptersModule];
  return Test.createTestingModule({ imports }).compile();
};

describe('the adapters of a gateway process', () => {
  it('implement every port, by the settings, and release everything at the end', async () => {
    const module = await ofGateway();

    for (const port of [ApiKeyDirectory, VirtualKeyDirectory, LogSink, PriceBook, Egress, ClientAddresses])
      expect(module.get(port)).toBeInstanceOf(port);
    expect(module.get(ChangeFeed)).toBeInstanceOf(PostgresChangeFeed);
    const egress = module.get(Egress);
    expect(() => egress.checkDestination(new URL('http://127.0.0.1:9100'))).not.toThrow();
    expect(() => egress.checkDestination(new URL('http://127.0.0.1:9101'))).toThrow();
    expect(readdirSync(dataDir)).toContain('spool');

    await module.close();
    await module.get(QueryPool).close();
  });

  it('receive changes over Redis when there is one', async () => {
    const redis = await startFakeRedis();
    const module = await ofGateway({ REDIS_URL: redis.url });

    expect(module.get(ChangeFeed)).toBeInstanceOf(RedisChangeFeed);

    await module.close();
    await redis.close();
  });

  it('say which key is missing', async () => {
    const subscribe = vi.spyOn(PostgresChangeFeed.prototype, 'subscribe');
    const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/nobody' };

    await expect(ofGateway({ ...nowhere, GATEHOUSE_KEY_PEPPER: '' })).rejects.toThrow('GATEHOUSE_KEY_PEPPER');

    // There is no module to close, but its feed listens already.
    const feeds = new Set(subscribe.mock.contexts as PostgresChangeFeed[]);
    await Promise.all([...feeds].map((feed) => feed.onApplicationShutdown()));
    subscribe.mockRestore();
  });
});

describe('the adapters of the administration', () => {
  it('implement its ports, by the settings', async () => {
    const redis = await startFakeRedis();
    const [alone, withRedis] = [await ofAdministration(), await ofAdministration({ REDIS_URL: redis.url })];

    for (const port of [ApiKeyDirectory, Egress, ClientAddresses])
      expect(alone.get(port)).toBeInstanceOf(port);
    expect(alone.get(ChangeFeed)).toBeInstanceOf(PostgresChangeFeed);
    expect(alone.get(ChangePublisher)).toBeInstanceOf(PostgresChangePublisher);
    expect(withRedis.get(ChangeFeed)).toBeInstanceOf(RedisChangeFeed);
    expect(withRedis.get(ChangePublisher)).toBeInstanceOf(RedisChangePublisher);

    await Promise.all([alone.close(), withRedis.close()]);
    await redis.close();
  });
});
