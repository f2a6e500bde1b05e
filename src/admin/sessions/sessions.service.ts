import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { DataSource, In, LessThan, MoreThan, Not, type Repository } from 'typeorm';
import type { KnownSession } from '../../auth/ports.js';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import type { SignInMethod } from '../../common/contracts/sign-in-method.js';
import { Session } from './session.entity.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { createLogger } from '../../common/observability/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ClientAddresses } from '../../common/http/client-address.js';
import { SessionCookie } from '../../common/http/session-cookie.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';

const LONGEST_USER_AGENT = 500;
const SECOND_MS = 1_000;

const logger = createLogger('sessions');
const noteFailure = (error: unknown): void =>
  logger.error(
    { failure: describeFailure(error) },
    'A replaced session of another organization did not end.',
  );

/** Where a sign-in comes from. */
export interface SignInOrigin {
  readonly ip: string;
  readonly userAgent: string | undefined;
  /** The browser's `Cookie` header. */
  readonly cookies: string | undefined;
}

/** Where the sign-in of a request comes from. */
export const signInOrigin = ({ raw, headers }: FastifyRequest, addresses: ClientAddresses): SignInOrigin => ({
  ip: addresses.of(raw),
  userAgent: headers['user-agent'],
  cookies: headers.cookie,
});

/** A user, never a session, which also has an `id` and an `organizationId`: `userId` distinguishes them at compile time. */
export interface SessionOwner {
  readonly id: string;
  readonly organizationId: string;
  readonly userId?: never;
}

/** The user of a session. */
export const sessionOwner = ({ userId, organizationId }: KnownSession): SessionOwner => ({
  id: userId,
  organizationId,
});

/** A session and its `Set-Cookie` header. */
export interface OpenedSession {
  readonly session: Session;
  readonly cookie: string;
}

/** The dashboard sessions of users. Ending a session deletes it, with effect in every process from the next request on. */
@Injectable()
export class SessionsService {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly tokens: OpaqueTokens,
    private readonly cookie: SessionCookie,
    private readonly unitOfWork: UnitOfWork,
    private readonly database: DataSource,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Always a new secret, regardless of what the browser presented: a planted session id is never used. */
  async open(user: SessionOwner, method: SignInMethod, origin: SignInOrigin): Promise<OpenedSession> {
    await this.forgetOver(user);
    const { token, hash } = this.tokens.issue('session');
    const id = uuidV7(Date.now());
    await this.sessions.insert({
      id,
      organizationId: user.organizationId,
      userId: user.id,
      secretHash: hash,
      method,
      ip: origin.ip,
      userAgent: origin.userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
    });
    return { session: await this.sessions.findOneByOrFail({ id }), cookie: this.cookieOf(token.reveal()) };
  }

  /** Records a step-up of the user, and gives the session a new secret: copies of the old one become useless. */
  async renew({ id }: KnownSession): Promise<OpenedSession> {
    const { token, hash } = this.tokens.issue('session');
    await this.sessions.update({ id }, { secretHash: hash, authenticatedAt: () => 'now()' });
    return { session: await this.find({ id }), cookie: this.cookieOf(token.reveal()) };
  }

  /** For a user who was authenticated elsewhere, at another time than the sign-in. */
  async noteProof({ id }: Session, authenticatedAt: Date): Promise<void> {
    await this.sessions.update({ id }, { authenticatedAt });
  }

  /** Refuses with `session_ended` a session that ended since the caller was identified. */
  async find({ id }: Pick<KnownSession, 'id'>): Promise<Session> {
    const session = await this.sessions.findOneBy({ id });
    if (!session) throw new AppError('session_ended');
    return session;
  }

  /** Newest first, without expired ones. */
  list({ organizationId, id: userId }: SessionOwner): Promise<Session[]> {
    const { lifetimeMs, idleMs } = this.settings.sessions;
    const since = (ms: number) => MoreThan(new Date(Date.now() - ms));
    return this.sessions.find({
      where: { organizationId, userId, createdAt: since(lifetimeMs), lastSeenAt: since(idleMs) },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
  }

  /** Ends one of a user's sessions. Refuses with `not_found` any other. */
  async end({ organizationId, id: userId }: SessionOwner, id: string): Promise<void> {
    const { affected } = isUuid(id)
      ? await this.sessions.delete({ organizationId, userId, id: id.toLowerCase() })
      : { affected: 0 };
    if (!affected) throw new AppError('not_found', { resource: 'session' });
  }

  async endOthers({ organizationId, userId, id }: KnownSession): Promise<void> {
    await this.sessions.delete({ organizationId, userId, id: Not(id) });
  }

  /**
   * Ends the browser's sessions, which another one replaces. The current transaction sees one organization only, so those of other ones end
   * after its commit.
   */
  async endPresented(cookies: string | undefined): Promise<void> {
    const hashes = this.presentedHashes(cookies);
    if (hashes.length === 0) return;
    const { affected } = await this.sessions.delete({ secretHash: In(hashes) });
    if (affected !== hashes.length)
      this.unitOfWork.afterCommit(() => void this.endElsewhere(hashes).catch(noteFailure));
  }

  /** Whether the browser has a session of this user. */
  async isPresented(cookies: string | undefined, user: SessionOwner): Promise<boolean> {
    const { lifetimeMs, idleMs } = this.settings.sessions;
    return this.sessions.existsBy({
      ...{ organizationId: user.organizationId, userId: user.id },
      secretHash: In(this.presentedHashes(cookies)),
      createdAt: MoreThan(new Date(Date.now() - lifetimeMs)),
      lastSeenAt: MoreThan(new Date(Date.now() - idleMs)),
    });
  }

  private presentedHashes(cookies: string | undefined): Buffer[] {
    return this.cookie.readAll(cookies).map((secret) => this.tokens.hashOf('session', secret));
  }

  private async endElsewhere(hashes: readonly Buffer[]): Promise<void> {
    await this.database.query('DELETE FROM sessions WHERE secret_hash = ANY ($1)', [hashes]);
  }

  /** For a user whose role, status or credentials changed. */
  async endAllOf({ id, organizationId }: SessionOwner): Promise<void> {
    await this.sessions.delete({ organizationId, userId: id });
  }

  /** Expired sessions are deleted at their user's next sign-in, which saves a cleanup job. */
  private async forgetOver({ id: userId, organizationId }: SessionOwner): Promise<void> {
    const { lifetimeMs, idleMs } = this.settings.sessions;
    const before = (ms: number) => LessThan(new Date(Date.now() - ms));
    await this.sessions.delete({ organizationId, userId, createdAt: before(lifetimeMs) });
    await this.sessions.delete({ organizationId, userId, lastSeenAt: before(idleMs) });
  }

  /** `Set-Cookie` that removes the cookie. */
  get clearedCookie(): string {
    return this.cookie.clear();
  }

  private cookieOf(secret: string): string {
    return this.cookie.write(secret, Math.floor(this.settings.sessions.lifetimeMs / SECOND_MS));
  }
}
