import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdaptersModule } from '../../../src/adapters/adapters.module.js';
import { PostgresChangeBus } from '../../../src/adapters/postgres-change-bus.js';
import { RedisChangeBus } from '../../../src/adapters/redis-change-bus.js';
import { ApiKeyDirectory } from '../../../src/auth/ports.js';
import { ChangeBus } from '../../../src/common/changes/change-bus.js';
import { SecretBox } from '../../../src/common/crypto/envelope.js';
import { createDataSource } from '../../../src/common/database/data-source.js';
import { DatabaseModule } from '../../../src/common/database/database.module.js';
import { Egress } from '../../../src/common/egress/egress.js';
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

const key = () => randomBytes(32).toString('base64');
const parts = async (environment: Readonly<Record<string, string>> = {}) => {
  const settings = loadSettings({
    DATABASE_URL: database.url,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_MASTER_KEY: key(),
    GATEHOUSE_KEY_PEPPER: key(),
    GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:9100',
    ...environment,
  });
  const dataSource = await createDataSource(database.url, 2).initialize();
  return [SettingsModule.of(settings), DatabaseModule.around(dataSource), AdaptersModule];
};

describe('AdaptersModule', () => {
  it('puts an adapter behind every port, by the settings, and lets go of everything at the end', async () => {
    const module = await Test.createTestingModule({ imports: await parts() }).compile();

    for (const port of [
      ApiKeyDirectory,
      VirtualKeyDirectory,
      LogSink,
      PriceBook,
      ChangeBus,
      Egress,
      SecretBox,
    ])
      expect(module.get(port)).toBeInstanceOf(port);
    expect(module.get(ChangeBus)).toBeInstanceOf(PostgresChangeBus);
    const egress = module.get(Egress);
    expect(() => egress.checkDestination(new URL('http://127.0.0.1:9100'))).not.toThrow();
    expect(() => egress.checkDestination(new URL('http://127.0.0.1:9101'))).toThrow();
    expect(readdirSync(dataDir)).toContain('spool');

    await module.close();
  });

  it('talks over Redis when there is one', async () => {
    const redis = await startFakeRedis();
    const module = await Test.createTestingModule({
      imports: await parts({ REDIS_URL: redis.url }),
    }).compile();

    expect(module.get(ChangeBus)).toBeInstanceOf(RedisChangeBus);

    await module.close();
    await redis.close();
  });

  it('says which key is missing', async () => {
    const imports = await parts({ GATEHOUSE_KEY_PEPPER: '' });

    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow('GATEHOUSE_KEY_PEPPER');
  });
});
