import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { Session } from '../sessions/session.entity.js';
import { SignInPolicy } from '../sign-in-policy/sign-in-policy.entity.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { LockoutCheckService } from './lockout-check.service.js';

export interface SignInSettings {
  readonly single_sign_on_required: boolean;
  readonly break_glass_user_ids: readonly string[];
}

/** Whether users of an organization must sign in with its identity providers. */
@Injectable()
export class SignInSettingsService {
  constructor(
    @InjectRepository(SignInPolicy) private readonly policies: Repository<SignInPolicy>,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly lockout: LockoutCheckService,
    private readonly people: PeopleService,
    private readonly audit: AuditTrail,
  ) {}

  async get(organizationId: string): Promise<SignInSettings> {
    const policy = await this.policies.findOneBy({ organizationId });
    return {
      single_sign_on_required: policy?.isSingleSignOnRequired ?? false,
      break_glass_user_ids: policy?.breakGlassUserIds ?? [],
    };
  }

  /** Requiring single sign-on ends sessions opened in other ways, except those of break-glass owners. */
  async set(caller: Principal, settings: SignInSettings): Promise<SignInSettings> {
    const { organizationId } = caller;
    await this.people.lockMemberships(organizationId);
    await this.people.checkMayChangeSignIn(caller);
    const before = await this.get(organizationId);
    const isRequired = settings.single_sign_on_required;
    const ids = settings.break_glass_user_ids.map((id) => id.toLowerCase());
    await this.lockout.checkOwners(organizationId, ids);
    if (isRequired) await this.lockout.checkMayRequire(organizationId, ids);
    await this.policies.upsert(
      { organizationId, isSingleSignOnRequired: isRequired, breakGlassUserIds: ids },
      ['organizationId'],
    );
    if (isRequired)
      await this.sessions.delete({ organizationId, method: Not('single_sign_on'), userId: Not(In(ids)) });
    const after = await this.get(organizationId);
    this.audit.note({ targetId: organizationId, workspaceId: null, before, after });
    return after;
  }
}
