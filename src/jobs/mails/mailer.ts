import { createTransport } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import { SMTP_TIMEOUTS, type StoreTimeouts } from '../../common/net/store-timeouts.js';
import type { MailSettings } from '../../common/settings/settings.js';

export interface MailToSend {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Sends mail through the operator's mail server. Like the database's, its address is the operator's own setting and often private, so the
 * rules for tenants' addresses do not apply. https://nodemailer.com/smtp/
 */
export class Mailer {
  private readonly transport;

  constructor(
    { smtpUrl, from }: MailSettings,
    { connectMs, commandMs }: Pick<StoreTimeouts, 'connectMs' | 'commandMs'> = SMTP_TIMEOUTS,
  ) {
    this.transport = createTransport(
      {
        url: smtpUrl.reveal(),
        dnsTimeout: connectMs,
        connectionTimeout: connectMs,
        greetingTimeout: connectMs,
        socketTimeout: commandMs,
        // Mails are our own text: nothing in them may make the library open files or URLs.
        disableFileAccess: true,
        disableUrlAccess: true,
      },
      { from },
    );
  }

  /** Rejects when the server did not accept the mail, without the server's message: it may quote the mail, and so its link. */
  async send(mail: MailToSend): Promise<void> {
    try {
      await this.transport.sendMail(mail);
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      const answered = typeof responseCode === 'number' ? ` ${responseCode}` : '';
      throw new Error(`The mail server rejected the mail: ${String(code)}${answered}`);
    }
  }

  /**
   * Connects, upgrades to TLS if the server offers it, and authenticates if the URL has a user, without sending a mail. Rejects with the
   * error of the failed step. https://nodemailer.com/extras/smtp-connection/
   */
  async verify(): Promise<{ readonly isEncrypted: boolean; readonly isAuthenticated: boolean }> {
    const { options } = this.transport.transporter as SMTPTransport;
    const connection = new SMTPConnection(options);
    const done = (step: (callback: (error?: Error | null) => void) => void): Promise<void> =>
      new Promise((resolve, reject) => {
        connection
          .once('error', reject)
          .once('end', () => reject(new Error('The server closed the connection.')));
        step((error) => (error ? reject(error) : resolve()));
      });
    try {
      await done((callback) => connection.connect(callback));
      const { auth } = options;
      if (auth) await done((callback) => connection.login(auth, callback));
      return { isEncrypted: connection.secure, isAuthenticated: auth !== undefined };
    } finally {
      connection.close();
    }
  }
}
