import { BullModule } from '@nestjs/bullmq';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Egress } from '../../egress/egress.js';
import { FORWARD_AUDIT } from '../queues/forward-audit.queue.js';
import { QueuesModule } from '../queues/queues.module.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuditForwarder } from './audit-forwarder.js';
import { DueBatches } from './due-batches.js';
import { ForwardAuditProcessor } from './forward-audit.processor.js';
import { KeepAnchors } from './keep-anchors.js';
import { SweepAudit } from './sweep-audit.js';

/** One connection per batch in flight to an origin. */
const CONNECTIONS = 8;

/** Forwards audit records to their organizations' destinations. Requires `SettingsModule` and `DatabaseModule`. */
@Module({
  imports: [CryptoModule, QueuesModule, BullModule.registerQueue({ name: FORWARD_AUDIT })],
  providers: [
    {
      provide: Egress,
      inject: [SETTINGS],
      useFactory: ({ egressAllow, timeouts, proxies }: Settings) =>
        new Egress({ allow: egressAllow, timeouts, proxies, connections: CONNECTIONS }),
    },
    {
      provide: DueBatches,
      inject: [DataSource],
      useFactory: (database: DataSource) => new DueBatches(database),
    },
    {
      provide: AuditForwarder,
      inject: [DueBatches, SecretBox, Egress],
      useFactory: (batches: DueBatches, box: SecretBox, egress: Egress) =>
        new AuditForwarder(batches, box, egress),
    },
    ForwardAuditProcessor,
    SweepAudit,
    KeepAnchors,
  ],
})
export class AuditForwardingModule implements OnApplicationShutdown {
  constructor(private readonly egress: Egress) {}

  onApplicationShutdown(): Promise<void> {
    return this.egress.close();
  }
}
