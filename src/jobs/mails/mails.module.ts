import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InviteTokens } from '../../common/crypto/invite-tokens.js';
import { QueuesModule } from '../queues/queues.module.js';
import { SEND_MAILS } from '../queues/send-mails.queue.js';
import { baseUrl } from '../../common/settings/base-url.js';
import type { MailSettings, Settings } from '../../common/settings/settings.js';
import { InviteMails } from './invite-mails.js';
import { Mailer } from './mailer.js';
import { SendMailsProcessor } from './send-mails.processor.js';
import { SweepMails } from './sweep-mails.js';

/** Sends the mails that are waiting in the database. Requires `SettingsModule` and `DatabaseModule`. */
@Module({})
export class MailsModule {
  static register(mail: MailSettings, settings: Settings): DynamicModule {
    const { keyPepper } = settings;
    if (!keyPepper)
      throw new Error('This process needs GATEHOUSE_KEY_PEPPER; "gatehouse start" gives it one.');
    return {
      module: MailsModule,
      // Without mail, no process holds connections for its queue.
      imports: [QueuesModule, BullModule.registerQueue({ name: SEND_MAILS })],
      providers: [
        {
          provide: InviteMails,
          inject: [DataSource],
          useFactory: (database: DataSource) =>
            new InviteMails(
              database,
              new Mailer(mail),
              new InviteTokens(keyPepper),
              baseUrl(settings, settings.port),
            ),
        },
        SendMailsProcessor,
        SweepMails,
      ],
    };
  }
}
