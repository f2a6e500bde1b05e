import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { Passkey } from '../passkeys/passkey.entity.js';
import type { Session } from '../sessions/session.entity.js';
import type { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import type { SignInMethodsDto } from '../dto-fields/session.dto.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignInMethodsService } from '../signed-in-user/sign-in-methods.service.js';
import { PeopleService } from './people.service.js';
import { checkMayActOn } from './ranks.js';

/** Sessions and sign-in methods of other users, for administrators. */
@Injectable()
export class UserSignInService {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    private readonly people: PeopleService,
    private readonly sessions: SessionsService,
    private readonly factors: SecondFactorsService,
    private readonly signInMethods: SignInMethodsService,
    private readonly audit: AuditTrail,
  ) {}

  /** Newest first, without those that have ended. */
  async listSessions({ organizationId }: Principal, id: string): Promise<Session[]> {
    return this.sessions.list(await this.people.find(organizationId, id));
  }

  async methods({ organizationId }: Principal, id: string): Promise<SignInMethodsDto> {
    return this.signInMethods.of(await this.people.find(organizationId, id));
  }

  /** Refuses with `forbidden` users of the caller's rank or above, and with `not_found` a session that is not theirs. */
  async endSession(caller: Principal, id: string, sessionId: string): Promise<void> {
    await this.sessions.end(await this.changeable(caller, id), sessionId);
  }

  async endAllSessions(caller: Principal, id: string): Promise<void> {
    await this.sessions.endAllOf(await this.changeable(caller, id));
  }

  /**
   * Removes authenticator app, recovery codes and passkeys, for a user who lost them, and ends the user's sessions. Only owners may,
   * because afterwards the password alone is enough to sign in. Refuses with `conflict` when there is nothing to remove.
   */
  async removeSecondFactors(caller: Principal, id: string): Promise<void> {
    const user = await this.changeable(caller, id);
    await this.people.owner(caller, 'only an owner can remove the second factors of another user');
    const { totp, passkeys } = await this.signInMethods.of(user);
    if (!totp && passkeys === 0)
      throw new AppError('conflict', { detail: 'This user has no authenticator app and no passkey.' });
    await this.factors.remove(user);
    await this.passkeys.delete({ organizationId: user.organizationId, userId: user.id });
    await this.sessions.endAllOf(user);
    this.audit.note({ before: { totp, passkeys }, after: { totp: false, passkeys: 0 } });
  }

  private async changeable(caller: Principal, id: string): Promise<User> {
    const user = await this.people.find(caller.organizationId, id);
    this.audit.note({ targetId: user.id });
    checkMayActOn(await this.people.actor(caller), user);
    return user;
  }
}
