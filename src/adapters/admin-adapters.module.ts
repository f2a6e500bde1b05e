import { type FactoryProvider, Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyDirectory, CurrentRights, SessionDirectory, TokenDirectory } from '../auth/ports.js';
import { ChangeFeed, ChangePublisher } from '../common/changes/change.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { Egress } from '../egress/egress.js';
import { SecretManagers } from '../external-credentials/secret-managers/secret-managers.js';
import { WorkloadIdentity } from '../external-credentials/workload-identity/workload-identity.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { RateUse } from '../common/limits/rate-use.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';
import { ModelCatalog } from '../providers/models/model-catalog.js';
import { PriceBook } from '../providers/prices/price-book.js';
import * as make from './factories.js';
import { PostgresChangePublisher } from './changes/postgres-change-publisher.js';
import { PostgresRateUse } from './limits/postgres-rate-use.js';
import { RefusedCredentialWriter } from './refused-credential-writer.js';
import { PostgresCurrentRights } from './directories/postgres-current-rights.js';

/** The adapter of each port of the administration. */
const PORTS: readonly FactoryProvider[] = [
  { provide: ApiKeyDirectory, inject: [DataSource, ChangeFeed, SETTINGS], useFactory: make.apiKeyDirectory },
  {
    provide: TokenDirectory,
    inject: [DataSource, ChangeFeed, Egress, SETTINGS],
    useFactory: make.tokenDirectory,
  },
  {
    provide: SessionDirectory,
    inject: [DataSource, ChangeFeed, SETTINGS],
    useFactory: make.sessionDirectory,
  },
  {
    provide: CurrentRights,
    inject: [DataSource],
    useFactory: (database: DataSource) => new PostgresCurrentRights(database),
  },
  { provide: ChangeFeed, inject: [SETTINGS], useFactory: make.changeFeed },
  { provide: ChangePublisher, inject: [UnitOfWork, SETTINGS], useFactory: changePublisher },
  { provide: RateUse, inject: [UnitOfWork, SETTINGS], useFactory: rateUse },
  { provide: Egress, inject: [SETTINGS], useFactory: make.egress },
  { provide: WorkloadIdentity, inject: [Egress, SETTINGS], useFactory: make.workloadIdentity },
  { provide: SecretManagers, inject: [Egress, WorkloadIdentity, SETTINGS], useFactory: make.secretManagers },
  { provide: PriceBook, inject: [SETTINGS], useFactory: make.priceBook },
  { provide: ModelCatalog, inject: [SETTINGS], useFactory: make.modelCatalog },
  { provide: ClientAddresses, inject: [SETTINGS], useFactory: make.clientAddresses },
  {
    provide: RefusedCredentialWriter,
    inject: [DataSource],
    useFactory: make.refusedCredentialWriter,
  },
];

/** Connects the ports of the administration to PostgreSQL, Redis and the network. */
@Global()
@Module({ providers: [...PORTS], exports: PORTS.map(({ provide }) => provide) })
export class AdminAdaptersModule implements OnApplicationShutdown {
  constructor(private readonly egress: Egress) {}

  onApplicationShutdown(): Promise<void> {
    return this.egress.close();
  }
}

/** Loads the Redis client only if Redis is configured. */
async function changePublisher(work: UnitOfWork, { redisUrl }: Settings): Promise<ChangePublisher> {
  if (!redisUrl) return new PostgresChangePublisher(work);
  const { RedisChangePublisher } = await import('./changes/redis-change-publisher.js');
  return new RedisChangePublisher(work, redisUrl);
}

/** Reads rates where gateway processes count them. PostgreSQL reads run in the request's transaction. */
async function rateUse(work: UnitOfWork, { redisUrl }: Settings): Promise<RateUse> {
  if (!redisUrl) return PostgresRateUse.within(work);
  const { RedisRateUse } = await import('./limits/redis-rate-use.js');
  return new RedisRateUse(redisUrl);
}
