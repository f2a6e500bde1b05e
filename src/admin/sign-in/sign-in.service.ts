import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { SlotWaiter } from '../../common/processes/semaphore.js';
import type { SignInMethod } from '../../common/contracts/sign-in-method.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import {
  type OpenedSession,
  type SessionOwner,
  SessionsService,
  type SignInOrigin,
} from '../sessions/sessions.service.js';
import { KnownDevices } from './known-devices.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import type { SignInDto } from './sign-in.dto.js';

/** Users of the address in all organizations, oldest first. */
const CANDIDATES = `
  SELECT users.id, users.organization_id AS "organizationId", users.email, users.role, credential.password_hash AS "passwordHash"
  FROM users JOIN user_credentials credential ON credential.user_id = users.id
  WHERE lower(users.email) = $1 AND users.status = 'active' AND credential.password_hash IS NOT NULL
    AND ($2::uuid IS NULL OR users.organization_id = $2)
  ORDER BY users.created_at, users.id LIMIT 5`;

interface Candidate extends SessionOwner {
  readonly email: string;
  readonly role: OrganizationRole;
  readonly passwordHash: string;
}

/** A user whose password was just verified. */
export type VerifiedUser = Candidate;

/** The user whom an attempt names, whether or not it succeeds. */
export type NamedUser = SessionOwner & { readonly email: string };

/** The result of comparing a password. */
export interface PasswordCheck {
  readonly user: VerifiedUser | null;
  readonly namedUser: NamedUser | null;
  /** Why there is no user. Only the audit record shows it. */
  readonly refusal: 'sign_in_failed' | 'single_sign_on_required';
}

/** A session with its cookie, and that of the known device. */
export interface OpenedSignIn extends OpenedSession {
  /** `Set-Cookie` headers, that of the session first. */
  readonly cookies: readonly string[];
}

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
    private readonly devices: KnownDevices,
  ) {}

  /**
   * The user with this password, or the user of the address. Takes equally long without such a user. A user who must use the identity
   * provider is refused like one with a wrong password, which would be confirmed otherwise.
   */
  async verify(dto: SignInDto, waiter: SlotWaiter): Promise<PasswordCheck> {
    const candidates = await this.candidates(dto);
    const open = await Promise.all(candidates.map((each) => this.policy.isOpenTo(each)));
    const hashes = candidates.map(({ passwordHash }) => passwordHash);
    const right = await this.passwords.areRight(dto.password, hashes, waiter);
    const user = candidates.find((_, index) => right[index] && open[index]) ?? null;
    const closed = candidates.find((_, index) => right[index]);
    const refusal = closed ? 'single_sign_on_required' : 'sign_in_failed';
    return { user, namedUser: user ?? closed ?? candidates[0] ?? null, refusal };
  }

  /** The user whom an attempt means, for its audit record. */
  async userNamedBy(dto: SignInDto): Promise<NamedUser | null> {
    const [first] = await this.candidates(dto);
    return first ?? null;
  }

  private async candidates({ email, organisation_id }: SignInDto): Promise<Candidate[]> {
    const normal = normalizeEmail(email);
    return normal === null ? [] : this.database.query(CANDIDATES, [normal, organisation_id ?? null]);
  }

  /** Opens a session, unless the password or the user changed since it was verified. */
  async openWithPassword(user: VerifiedUser, origin: SignInOrigin): Promise<OpenedSignIn> {
    if (!(await this.passwords.isCurrent(user.id, user.passwordHash))) throw new AppError('sign_in_failed');
    return this.open(user, 'password', origin);
  }

  /**
   * Until the transaction ends the user cannot be deactivated; later deactivation ends this session, too. The browser's earlier session
   * ends: this one replaces it.
   */
  async open(user: SessionOwner, method: SignInMethod, origin: SignInOrigin): Promise<OpenedSignIn> {
    const lock = { mode: 'pessimistic_read' } as const;
    const active = await this.users.findOne({ where: { id: user.id, status: 'active' }, lock });
    if (!active) throw new AppError('sign_in_failed');
    if (method !== 'single_sign_on') await this.policy.checkOpenTo(active);
    await this.sessions.endPresented(origin.cookies);
    const opened = await this.sessions.open(user, method, origin);
    return { ...opened, cookies: [opened.cookie, this.devices.cookieOf(active.email)] };
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
