import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { inviteLink } from '../../common/contracts/invite-link.js';
import { InviteTokens } from '../../common/crypto/invite-tokens.js';
import { Invite } from '../tenancy/invite.entity.js';
import { Mail } from './mail.entity.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { baseUrl } from '../../common/settings/base-url.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';

/** Delivers the link of an invite: by mail if configured, else by hand. */
@Injectable()
export class InviteDelivery {
  constructor(
    @InjectRepository(Mail) private readonly mails: Repository<Mail>,
    @InjectRepository(Invite) private readonly invites: Repository<Invite>,
    private readonly tokens: InviteTokens,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Returns the link, or null when a mail will deliver it. Earlier links become void. The token of a mail is created when it is sent, so
   * that it is stored nowhere while the mail waits.
   */
  async deliver(invite: Invite): Promise<string | null> {
    if (this.settings.mail === null) {
      const { token, hash } = this.tokens.issue(invite);
      await this.replaceHash(invite, hash);
      return inviteLink(baseUrl(this.settings, this.settings.port), token);
    }
    await this.replaceHash(invite, null);
    const { id: inviteId, organizationId } = invite;
    await this.mails.delete({ inviteId, sentAt: IsNull() });
    await this.mails.insert({ id: uuidV7(Date.now()), organizationId, inviteId });
    return null;
  }

  private async replaceHash({ id }: Invite, tokenHash: Buffer | null): Promise<void> {
    await this.invites.update({ id }, { tokenHash });
  }
}
