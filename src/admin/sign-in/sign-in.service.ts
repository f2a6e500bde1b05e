import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { SignInMethod } from '../../common/contracts/sign-in-method.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import {
  type OpenedSession,
  type SessionOwner,
  SessionsService,
  type SignInOrigin,
} from './sessions.service.js';
import { PasswordsService } from './passwords.service.js';
import { SignInPolicyService } from './sign-in-policy.service.js';
import type { SignInDto } from './sign-in.dto.js';

/** Users of the address in all organizations, oldest first. */
const CANDIDATES = `
  SELECT users.id, users.organization_id AS "organizationId", users.email, credential.password_hash AS "passwordHash"
  FROM users JOIN user_credentials credential ON credential.user_id = users.id
  WHERE lower(users.email) = $1 AND users.status = 'active' AND credential.password_hash IS NOT NULL
    AND ($2::uuid IS NULL OR users.organization_id = $2)
  ORDER BY users.created_at, users.id LIMIT 5`;

interface Candidate extends SessionOwner {
  readonly email: string;
  readonly passwordHash: string;
}

/** A user whose password was just verified. */
export type VerifiedUser = Candidate;

/** The sign-in policy: every method opens its session here. */
@Injectable()
export class SignInService {
  constructor(
    // No user is identified yet, so this is not a tenant's transaction.
    private readonly database: DataSource,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly passwords: PasswordsService,
    private readonly sessions: SessionsService,
    private readonly policy: SignInPolicyService,
  ) {}

  /** The user with this password, or the user of the address. Takes equally long without such a user. */
  async verify({ email, password, organisation_id }: SignInDto): Promise<{
    readonly user: VerifiedUser | null;
    readonly meant: (SessionOwner & { readonly email: string }) | null;
  }> {
    const normal = normalizeEmail(email);
    const candidates =
      normal === null
        ? []
        : await this.database.query<Candidate[]>(CANDIDATES, [normal, organisation_id ?? null]);
    for (const candidate of candidates)
      if (await this.passwords.isRight(password, candidate.passwordHash))
        return { user: candidate, meant: candidate };
    if (candidates.length === 0) await this.passwords.isRight(password, null);
    return { user: null, meant: candidates[0] ?? null };
  }

  /** Opens a session, unless the password or the user changed since it was verified. */
  async openWithPassword(user: VerifiedUser, origin: SignInOrigin): Promise<OpenedSession> {
    if (!(await this.passwords.isCurrent(user.id, user.passwordHash))) throw new AppError('sign_in_failed');
    return this.open(user, 'password', origin);
  }

  /** Until the transaction ends the user cannot be deactivated; later deactivation ends this session, too. */
  async open(user: SessionOwner, method: SignInMethod, origin: SignInOrigin): Promise<OpenedSession> {
    const lock = { mode: 'pessimistic_read' } as const;
    const active = await this.users.findOne({ where: { id: user.id, status: 'active' }, lock });
    if (!active) throw new AppError('sign_in_failed');
    if (method !== 'single_sign_on') await this.policy.checkOpenTo(active);
    return this.sessions.open(user, method, origin);
  }
}

/** The principal of a sign-in's audit record. It has no scopes yet. */
export function signingIn({
  id,
  organizationId,
  email,
}: SessionOwner & { readonly email: string }): Principal {
  return {
    kind: 'person',
    apiKeyId: null,
    name: email,
    organizationId,
    workspaceId: null,
    userId: id,
    authorityId: id,
    scopes: new Set(),
    policy: null,
  };
}
