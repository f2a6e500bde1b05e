import { type FactoryProvider, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ApiKeyDirectory, TokenDirectory } from '../auth/ports.js';
import { ChangeFeed } from '../common/changes/change.js';
import { CryptoModule } from '../common/crypto/crypto.module.js';
import { SecretBox } from '../common/crypto/envelope.js';
import { QueryPool } from '../database/sessions/query-pool.js';
import { Egress } from '../egress/egress.js';
import { SecretManagers } from '../external-credentials/secret-managers/secret-managers.js';
import { WorkloadIdentity } from '../external-credentials/workload-identity/workload-identity.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import { ModelCatalog } from '../providers/models/model-catalog.js';
import {
  AnswerStore,
  ConfigDirectory,
  LimitStore,
  GuardrailDirectory,
  LogSink,
  OutageNews,
  PriceBook,
  TokenCounter,
  UsableKeys,
  VectorStore,
  VirtualKeyDirectory,
} from '../gateway/ports.js';
import { DirectorySnapshot } from './directories/directory-snapshot.js';
import * as make from './factories.js';
import { MappedCredentials } from './directories/mapped-credentials.js';
import { RefusedCredentialWriter } from './refused-credential-writer.js';
import type { SpoolLogSink } from './spool-log-sink.js';
import { WorkerTokenCounter } from './worker-token-counter.js';

/** The adapter of each port of a gateway process. */
const PORTS: readonly FactoryProvider[] = [
  { provide: ApiKeyDirectory, inject: [QueryPool, ChangeFeed, SETTINGS], useFactory: make.apiKeyDirectory },
  {
    provide: TokenDirectory,
    inject: [QueryPool, ChangeFeed, Egress, SETTINGS],
    useFactory: make.introducingTokenDirectory,
  },
  {
    provide: VirtualKeyDirectory,
    inject: [QueryPool, ChangeFeed, SecretBox, SETTINGS, MappedCredentials],
    useFactory: make.virtualKeyDirectory,
  },
  {
    provide: MappedCredentials,
    inject: [SecretManagers, SecretBox, SETTINGS],
    useFactory: make.mappedCredentials,
  },
  { provide: WorkloadIdentity, inject: [Egress, SETTINGS], useFactory: make.workloadIdentity },
  { provide: SecretManagers, inject: [Egress, WorkloadIdentity, SETTINGS], useFactory: make.secretManagers },
  {
    provide: GuardrailDirectory,
    inject: [QueryPool, ChangeFeed, SecretBox, SETTINGS],
    useFactory: make.guardrailDirectory,
  },
  { provide: UsableKeys, inject: [QueryPool, ChangeFeed, SETTINGS], useFactory: make.usableKeys },
  { provide: ConfigDirectory, inject: [QueryPool, ChangeFeed, SETTINGS], useFactory: make.configDirectory },
  { provide: OutageNews, inject: [QueryPool, ChangeFeed, SETTINGS], useFactory: make.outageNews },
  { provide: LogSink, inject: [SETTINGS], useFactory: make.logSink },
  { provide: LimitStore, inject: [QueryPool, LogSink, SETTINGS], useFactory: make.limitStore },
  { provide: AnswerStore, inject: [QueryPool, SecretBox, SETTINGS], useFactory: make.answerStore },
  { provide: VectorStore, inject: [QueryPool, SecretBox], useFactory: make.vectorStore },
  { provide: PriceBook, inject: [SETTINGS], useFactory: make.priceBook },
  { provide: TokenCounter, inject: [], useFactory: () => new WorkerTokenCounter() },
  { provide: ModelCatalog, inject: [SETTINGS], useFactory: make.modelCatalog },
  {
    provide: DirectorySnapshot,
    inject: [
      SETTINGS,
      ...[
        ApiKeyDirectory,
        TokenDirectory,
        VirtualKeyDirectory,
        GuardrailDirectory,
        ConfigDirectory,
        UsableKeys,
      ],
    ],
    useFactory: make.directorySnapshot,
  },
  { provide: ChangeFeed, inject: [SETTINGS], useFactory: make.changeFeed },
  { provide: Egress, inject: [SETTINGS], useFactory: make.egress },
  { provide: ClientAddresses, inject: [SETTINGS], useFactory: make.clientAddresses },
  {
    provide: RefusedCredentialWriter,
    inject: [QueryPool],
    useFactory: make.refusedCredentialWriter,
  },
];

/** Connects the ports of the data plane to PostgreSQL, Redis, the spool and the network. Needs a `QueryPool`. */
@Global()
@Module({ imports: [CryptoModule], providers: [...PORTS], exports: PORTS.map(({ provide }) => provide) })
export class GatewayAdaptersModule implements OnApplicationShutdown {
  constructor(
    private readonly egress: Egress,
    @Inject(LogSink) private readonly logs: SpoolLogSink,
  ) {}

  /** Connections close first: closing one may end an exchange, whose record must still be written. */
  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
    await this.logs.shutdown();
  }
}
