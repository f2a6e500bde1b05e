import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Passkey } from '../passkeys/passkey.entity.js';
import { RecoveryCode } from '../second-factors/recovery-code.entity.js';
import { type SessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { SignInLink } from '../passwords/sign-in-link.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';

/** All credentials of a user. */
@Injectable()
export class UserCredentialsService {
  constructor(
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    @InjectRepository(RecoveryCode) private readonly recoveryCodes: Repository<RecoveryCode>,
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    @InjectRepository(SignInLink) private readonly links: Repository<SignInLink>,
    private readonly sessions: SessionsService,
  ) {}

  /** Removes password, authenticator app, recovery codes, passkeys and links, and ends all sessions. False if there were no credentials. */
  async removeAllOf(user: SessionOwner): Promise<boolean> {
    const own = { organizationId: user.organizationId, userId: user.id };
    const removed = [
      await this.credentials.delete(own),
      await this.recoveryCodes.delete(own),
      await this.passkeys.delete(own),
      await this.links.delete(own),
    ];
    await this.sessions.endAllOf(user);
    return removed.some(({ affected }) => (affected ?? 0) > 0);
  }
}
