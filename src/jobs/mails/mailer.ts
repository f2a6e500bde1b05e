import { createTransport } from 'nodemailer';
import { SMTP_TIMEOUTS } from '../../common/net/store-timeouts.js';
import type { MailSettings } from '../../common/settings/settings.js';

export interface MailToSend {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Hands mails to the operator's mail server. Its address is the operator's own setting like that of the database, and
 * often a private one, so it does not pass the rules for addresses that come from tenants.
 * https://nodemailer.com/smtp/
 */
export class Mailer {
  private readonly transport;

  constructor({ smtpUrl, from }: MailSettings) {
    this.transport = createTransport(
      {
        url: smtpUrl.reveal(),
        dnsTimeout: SMTP_TIMEOUTS.connectMs,
        connectionTimeout: SMTP_TIMEOUTS.connectMs,
        greetingTimeout: SMTP_TIMEOUTS.connectMs,
        socketTimeout: SMTP_TIMEOUTS.commandMs,
        // A mail is text of ours: nothing in it may make the sender open files or addresses.
        disableFileAccess: true,
        disableUrlAccess: true,
      },
      { from },
    );
  }

  /** Rejects when the server did not take the mail, with nothing of what it said: that may quote the mail, and so its link. */
  async send(mail: MailToSend): Promise<void> {
    try {
      await this.transport.sendMail(mail);
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      const answered = typeof responseCode === 'number' ? ` ${responseCode}` : '';
      throw new Error(`The mail server did not take the mail: ${String(code)}${answered}`);
    }
  }
}
