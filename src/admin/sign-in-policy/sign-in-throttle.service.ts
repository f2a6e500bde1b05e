import { Injectable } from '@nestjs/common';
import type { KnownSession } from '../../auth/ports.js';
import ipaddr from 'ipaddr.js';
import { DataSource } from 'typeorm';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { AppError } from '../../common/errors/app-error.js';

interface AttemptLimit {
  readonly kind: string;
  /** Failures per window. */
  readonly most: number;
  readonly windowSeconds: number;
  readonly subjectOf: (attempt: SignInAttempt) => string;
  /** Whether a success forgets earlier failures. */
  readonly isForgiving?: true;
}

const MINUTE = 60;
const fromAddress = (kind: string): AttemptLimit => ({
  ...{ kind, most: 30, windowSeconds: 10 * MINUTE },
  subjectOf: ({ address }) => networkOf(address),
});
const forSubject = (kind: string): AttemptLimit => ({
  ...{ kind, most: 10, windowSeconds: 10 * MINUTE, isForgiving: true },
  subjectOf: ({ subject }) => subject,
});
const FOR_ACCOUNT_FROM_ADDRESS: AttemptLimit = {
  ...{ kind: 'pair', most: 10, windowSeconds: 10 * MINUTE, isForgiving: true },
  subjectOf: ({ address, subject }) => `${networkOf(address)} ${subject}`,
};
/** High, so that an attacker who guesses from one address locks no user out. */
const FOR_ACCOUNT: AttemptLimit = {
  ...{ kind: 'account', most: 100, windowSeconds: 60 * MINUTE },
  subjectOf: ({ subject }) => subject,
};

/**
 * The brakes of each way to make an attempt. No way counts into those of another one, so nobody uses up the attempts of users in a way that
 * is open to everybody: a known device and a live session have an allowance of their own, and so have the requests that a page of another
 * site can cause.
 */
const ATTEMPT_LIMITS = {
  password: [fromAddress('address'), FOR_ACCOUNT_FROM_ADDRESS, FOR_ACCOUNT],
  knownDevice: [forSubject('device')],
  session: [forSubject('session')],
  link: [fromAddress('link address'), forSubject('link')],
  passkey: [fromAddress('passkey address')],
  singleSignOn: [fromAddress('single sign-on address')],
  backChannelLogout: [fromAddress('back-channel address')],
} as const satisfies Record<string, readonly AttemptLimit[]>;

type AttemptKind = keyof typeof ATTEMPT_LIMITS;

/** An attempt is counted before its password is checked: concurrent attempts cannot evade the limit. A window is never extended. */
const COUNT = `
  INSERT INTO sign_in_brakes AS brake (subject, failures, ends_at) VALUES ($1, 1, now() + $2 * interval '1 second')
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN brake.ends_at <= now() THEN 1 ELSE least(brake.failures + 1, 1000000) END,
    ends_at = CASE WHEN brake.ends_at <= now() THEN excluded.ends_at ELSE brake.ends_at END
  RETURNING failures, ceil(extract(epoch FROM ends_at - now()))::integer AS seconds`;
const UNDO = 'UPDATE sign_in_brakes SET failures = greatest(failures - 1, 0) WHERE subject = ANY ($1)';
const REFUND = `
  UPDATE sign_in_brakes SET failures = CASE WHEN subject = ANY ($2) THEN 0 ELSE greatest(failures - 1, 0) END
  WHERE subject = ANY ($1)`;
/** Each success and each failure removes a few old rows, which saves a cleanup job. */
const FORGET = `
  DELETE FROM sign_in_brakes WHERE subject = ANY (ARRAY(
    SELECT subject FROM sign_in_brakes WHERE ends_at < now() ORDER BY ends_at LIMIT 10 FOR UPDATE SKIP LOCKED))`;

const IPV6_NETWORK_BITS = 64;

/** An attempt to prove an identity. */
export interface SignInAttempt {
  readonly kind: AttemptKind;
  /** The IP address. */
  readonly address: string;
  /** What is guessed at: an account, which may not exist, a known device, a session, or a link. Empty if nothing is named. */
  readonly subject: string;
}

/** An attempt to verify the user of a session again. */
export const sessionAttempt = ({ id }: KnownSession, address: string): SignInAttempt => ({
  ...{ kind: 'session', address, subject: id },
});

/** Too many attempts. */
export class ThrottledError extends AppError {
  /** `isFirst`: no attempt was refused in this window before. */
  constructor(
    retryAfterSeconds: number,
    readonly isFirst: boolean,
  ) {
    super('rate_limited', { subject: 'failed sign-ins', retryAfterSeconds });
  }
}

/**
 * Throttles guessing, with counts in PostgreSQL shared by all processes. Each throttle ends with its window, so no account is locked
 * permanently.
 */
@Injectable()
export class SignInThrottle {
  constructor(
    private readonly database: DataSource,
    private readonly tokens: OpaqueTokens,
  ) {}

  /** Counts an attempt. Rejects with `rate_limited` after too many; the password must not be checked then. */
  async count(attempt: SignInAttempt): Promise<void> {
    await this.database.query(FORGET);
    for (const [limit, subject] of this.subjectsOf(attempt)) {
      const [row] = await this.database.query<{ failures: number; seconds: number }[]>(COUNT, [
        subject,
        limit.windowSeconds,
      ]);
      if (row && row.failures > limit.most)
        throw new ThrottledError(Math.max(row.seconds, 1), row.failures === limit.most + 1);
    }
  }

  /** Runs the attempt. It stays counted unless `work` succeeds. */
  async counted<T>(attempt: SignInAttempt, work: () => Promise<T>): Promise<T> {
    await this.count(attempt);
    const result = await work();
    await this.refund(attempt);
    return result;
  }

  /** The attempt was not a guess, because it lacked the second factor. */
  async undo(attempt: SignInAttempt): Promise<void> {
    await this.database.query(UNDO, [this.subjectsOf(attempt).map(subjectIn)]);
  }

  /** The attempt succeeded, so it does not count as a failure, nor do the user's earlier ones from there. */
  async refund(attempt: SignInAttempt): Promise<void> {
    const subjects = this.subjectsOf(attempt);
    const forgiven = subjects.filter(([limit]) => limit.isForgiving);
    await this.database.query(REFUND, [subjects.map(subjectIn), forgiven.map(subjectIn)]);
  }

  private subjectsOf(attempt: SignInAttempt): [AttemptLimit, Buffer][] {
    const limits: readonly AttemptLimit[] = ATTEMPT_LIMITS[attempt.kind];
    return limits.map((limit) => [
      limit,
      this.tokens.hashOf('sign-in brake', `${limit.kind} ${limit.subjectOf(attempt)}`),
    ]);
  }
}

const subjectIn = ([, subject]: [AttemptLimit, Buffer]): Buffer => subject;

/** One IPv6 host has 2^64 addresses. */
export function networkOf(address: string, ipv6Bits = IPV6_NETWORK_BITS): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${ipv6Bits}`).toString();
}
