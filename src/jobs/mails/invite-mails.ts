import type { DataSource } from 'typeorm';
import { type EntityManager } from 'typeorm';
import { inviteLink } from '../../common/contracts/invite-link.js';
import type { InviteTokens } from '../../common/crypto/invite-tokens.js';
import type { Secret } from '../../common/settings/secret.js';
import type { Mailer } from './mailer.js';
import { type MailToSend } from './mailer.js';

/** `void`: it was sent, is being sent, or its invite is no longer open. */
export type MailDelivery = 'sent' | 'void';

interface OpenInvite {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly organization: string;
}

/** Longer than an attempt can take. A mail held by a process that died is released after this time. */
const LEASE = '2 minutes';

const CLAIM = `
  UPDATE mails SET leased_until = now() + interval '${LEASE}'
  WHERE id = $1 AND sent_at IS NULL AND (leased_until IS NULL OR leased_until < now())
  RETURNING invite_id`;

const OPEN_INVITE = `
  SELECT invite.id, invite.organization_id AS "organizationId", invite.email, organization.name AS organization
  FROM invites invite JOIN organizations organization ON organization.id = invite.organization_id
  WHERE invite.id = $1 AND invite.status = 'pending' AND invite.expires_at > now()
  FOR UPDATE OF invite`;

/**
 * Sends the mail of an invite, once.
 *
 * A mail is claimed before it is sent and marked afterwards, so that no other process sends it, too. Only if a process dies between the
 * server's response and the mark is it sent again. The token is created here and stored as a hash: it exists only in the mail, and of two
 * mails only the later one has a working link.
 */
export class InviteMails {
  constructor(
    private readonly database: DataSource,
    private readonly mailer: Mailer,
    private readonly tokens: InviteTokens,
    private readonly baseUrl: string,
  ) {}

  /** Rejects when the mail server did not accept it; it can then be retried at once. */
  async send(mailId: string): Promise<MailDelivery> {
    const mail = await this.database.transaction((manager) => this.claim(manager, mailId));
    if (!mail) return 'void';
    try {
      await this.mailer.send(mail);
    } catch (error) {
      await this.database.query('UPDATE mails SET leased_until = NULL WHERE id = $1', [mailId]);
      throw error;
    }
    await this.database.query('UPDATE mails SET sent_at = now(), leased_until = NULL WHERE id = $1', [
      mailId,
    ]);
    return 'sent';
  }

  private async claim(manager: EntityManager, mailId: string): Promise<MailToSend | null> {
    const [claimed]: [{ invite_id: string }[], number] = await manager.query(CLAIM, [mailId]);
    const [row] = claimed;
    if (!row) return null;
    const [invite]: OpenInvite[] = await manager.query(OPEN_INVITE, [row.invite_id]);
    if (!invite) {
      await manager.query('DELETE FROM mails WHERE id = $1', [mailId]);
      return null;
    }
    const { token, hash } = this.tokens.issue(invite);
    await manager.query('UPDATE invites SET token_hash = $2 WHERE id = $1', [invite.id, hash]);
    return this.written(invite, token);
  }

  private written({ email, organization }: OpenInvite, token: Secret): MailToSend {
    return {
      to: email,
      subject: `Your invite to ${organization}`,
      text: [
        `You are invited to join ${organization} on Gatehouse, an AI gateway.`,
        '',
        'To accept, open this link within 72 hours of the invite. It works once:',
        inviteLink(this.baseUrl, token),
        '',
        'If you expected no invite, do nothing: the invite cannot be accepted without the link.',
        '',
      ].join('\n'),
    };
  }
}
