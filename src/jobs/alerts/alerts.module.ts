import { BullModule } from '@nestjs/bullmq';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Egress } from '../../egress/egress.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { QueuesModule } from '../queues/queues.module.js';
import { SEND_ALERTS } from '../queues/send-alerts.queue.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { Mailer } from '../mails/mailer.js';
import { LimitAlerts } from './limit-alerts.js';
import { SendAlertsProcessor } from './send-alerts.processor.js';
import { SweepAlerts } from './sweep-alerts.js';

/** Sends alerts about budgets. Requires `SettingsModule` and `DatabaseModule`. */
@Module({
  imports: [CryptoModule, QueuesModule, BullModule.registerQueue({ name: SEND_ALERTS })],
  providers: [
    {
      provide: Egress,
      inject: [SETTINGS],
      useFactory: ({ egressAllow, timeouts, proxies }: Settings) =>
        new Egress({ allow: egressAllow, timeouts, proxies }),
    },
    HttpCaller,
    {
      provide: LimitAlerts,
      inject: [DataSource, HttpCaller, SecretBox, SETTINGS],
      useFactory: (database: DataSource, http: HttpCaller, box: SecretBox, { mail }: Settings) =>
        new LimitAlerts(database, http, box, mail && new Mailer(mail)),
    },
    SendAlertsProcessor,
    SweepAlerts,
  ],
})
export class AlertsModule implements OnApplicationShutdown {
  constructor(private readonly egress: Egress) {}

  onApplicationShutdown(): Promise<void> {
    return this.egress.close();
  }
}
