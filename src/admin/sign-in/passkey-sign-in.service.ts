import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import type { SignInOrigin } from '../sessions/sessions.service.js';
import { type OpenedSignIn, signingIn, SignInService } from './sign-in.service.js';

/** A passkey requires fingerprint or PIN, so it counts as both factors. */
@Injectable()
export class PasskeySignInService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly passkeys: PasskeysService,
    private readonly signIns: SignInService,
    private readonly audit: AuditTrail,
  ) {}

  /** Refuses with `passkey_failed` a passkey that does not match, or whose user is deactivated. */
  async signIn(credential: object, origin: SignInOrigin): Promise<OpenedSignIn> {
    const { userId } = await this.passkeys.use(credential);
    const user = await this.users.findOneBy({ id: userId, status: 'active' });
    if (!user) throw new AppError('passkey_failed');
    this.audit.identify(signingIn(user), 'sessions.create');
    const opened = await this.signIns.open(user, 'passkey', origin);
    this.audit.note({ targetId: opened.session.id });
    return opened;
  }
}
