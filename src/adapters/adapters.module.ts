import { join } from 'node:path';
import { type FactoryProvider, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyDirectory } from '../auth/ports.js';
import { ChangeBus } from '../common/changes/change-bus.js';
import { SecretBox } from '../common/crypto/envelope.js';
import { Secret } from '../common/crypto/secret.js';
import { UnitOfWork } from '../common/database/unit-of-work.js';
import { Egress } from '../common/egress/egress.js';
import { createLogger } from '../common/observability/logger.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';
import { LogSink, PriceBook, VirtualKeyDirectory } from '../gateway/ports.js';
import { GenaiPriceBook } from './genai-price-book.js';
import { PostgresApiKeyDirectory } from './postgres-api-key-directory.js';
import { PostgresChangeBus } from './postgres-change-bus.js';
import { PostgresVirtualKeyDirectory } from './postgres-virtual-key-directory.js';
import { RedisChangeBus } from './redis-change-bus.js';
import { SpoolLogSink } from './spool-log-sink.js';

/** Which adapter is behind which port. */
const PORTS: readonly FactoryProvider[] = [
  { provide: ApiKeyDirectory, inject: [DataSource, ChangeBus, SETTINGS], useFactory: apiKeyDirectory },
  {
    provide: VirtualKeyDirectory,
    inject: [DataSource, ChangeBus, SecretBox, SETTINGS],
    useFactory: virtualKeyDirectory,
  },
  { provide: LogSink, inject: [SETTINGS], useFactory: logSink },
  { provide: PriceBook, inject: [], useFactory: () => new GenaiPriceBook() },
  { provide: ChangeBus, inject: [UnitOfWork, SETTINGS], useFactory: changeBus },
  { provide: Egress, inject: [SETTINGS], useFactory: egress },
  { provide: SecretBox, inject: [SETTINGS], useFactory: secretBox },
];

/** Plugs the ports of both planes into PostgreSQL, Redis, the spool and the network. */
@Global()
@Module({ providers: [...PORTS], exports: PORTS.map(({ provide }) => provide) })
export class AdaptersModule implements OnApplicationShutdown {
  constructor(
    private readonly egress: Egress,
    @Inject(LogSink) private readonly logs: SpoolLogSink,
  ) {}

  /** The last records are written after the last connection ended, because that may end an exchange. */
  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
    await this.logs.shutdown();
  }
}

function apiKeyDirectory(database: DataSource, changes: ChangeBus, settings: Settings): ApiKeyDirectory {
  const pepper = required(settings.keyPepper, 'GATEHOUSE_KEY_PEPPER');
  return new PostgresApiKeyDirectory(database, changes, { pepper, staleKeysMs: settings.staleKeysMs });
}

function virtualKeyDirectory(
  database: DataSource,
  changes: ChangeBus,
  secrets: SecretBox,
  { staleKeysMs }: Settings,
): VirtualKeyDirectory {
  return new PostgresVirtualKeyDirectory(database, changes, secrets, staleKeysMs);
}

function logSink({ dataDir }: Settings): LogSink {
  return new SpoolLogSink({ spool: join(dataDir, 'spool'), logger: createLogger('spool') });
}

function changeBus(work: UnitOfWork, { redisUrl, databaseUrl }: Settings): ChangeBus {
  return redisUrl
    ? new RedisChangeBus(work, redisUrl)
    : new PostgresChangeBus(work, required(databaseUrl, 'DATABASE_URL'));
}

function egress({ egressAllow, timeouts, upstreamConnections }: Settings): Egress {
  return new Egress({ allow: egressAllow, timeouts, connections: upstreamConnections });
}

function secretBox({ masterKey }: Settings): SecretBox {
  return new SecretBox(required(masterKey, 'GATEHOUSE_MASTER_KEY'));
}

/** "gatehouse start" gives its processes what the operator left to it. */
function required(secret: Secret | undefined, name: string): Secret {
  if (!secret) throw new Error(`A gateway process needs ${name}; "gatehouse start" gives it one.`);
  return secret;
}
