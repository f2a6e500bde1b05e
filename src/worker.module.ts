import { type DynamicModule, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { PostgresCurrentRights } from './adapters/directories/postgres-current-rights.js';
import { TokenizingUsageCounter } from './adapters/usage-counter.js';
import { DatabaseModule } from './database/database.module.js';
import { QueuesModule } from './jobs/queues/queues.module.js';
import type { Settings } from './common/settings/settings.js';
import { SettingsModule } from './common/settings/settings.module.js';
import { CountGroupsModule } from './jobs/analytics/count-groups.module.js';
import { ExportsModule } from './jobs/exports/exports.module.js';
import { AuditForwardingModule } from './jobs/audit-forwarding/audit-forwarding.module.js';
import { AlertsModule } from './jobs/alerts/alerts.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { MailsModule } from './jobs/mails/mails.module.js';
import { SinksModule } from './jobs/sinks/sinks.module.js';
import { ShippingModule } from './jobs/shipping/shipping.module.js';

/** The background process. Every instance ships its own spool; the jobs of the queue run where the role allows it. */
@Module({})
export class WorkerModule {
  static register(settings: Settings, dataSource: DataSource): DynamicModule {
    const mails = settings.mail === null ? [] : [MailsModule.register(settings.mail, settings)];
    const jobs =
      settings.role === 'api'
        ? []
        : [
            JobsModule,
            AlertsModule,
            AuditForwardingModule,
            CountGroupsModule,
            ExportsModule.register(new PostgresCurrentRights(dataSource)),
            ...SinksModule.register(settings),
            ...mails,
          ];
    return {
      module: WorkerModule,
      imports: [
        SettingsModule.forRoot(settings),
        DatabaseModule.forRoot(dataSource),
        QueuesModule,
        ShippingModule.register(new TokenizingUsageCounter()),
        ...jobs,
      ],
    };
  }
}
