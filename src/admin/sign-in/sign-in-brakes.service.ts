import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { DataSource } from 'typeorm';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { AppError } from '../../common/errors/app-error.js';

interface Brake {
  readonly kind: string;
  /** Failures per window. */
  readonly most: number;
  readonly windowSeconds: number;
}

const MINUTE = 60;
const FROM_ADDRESS: Brake = { kind: 'address', most: 30, windowSeconds: 10 * MINUTE };
const FOR_ACCOUNT_FROM_ADDRESS: Brake = { kind: 'pair', most: 10, windowSeconds: 10 * MINUTE };
/** High, so that an attacker who guesses from one address locks no user out. */
const FOR_ACCOUNT: Brake = { kind: 'account', most: 100, windowSeconds: 60 * MINUTE };

/** An attempt is counted before its password is checked: concurrent attempts cannot evade the limit. A window is never extended. */
const COUNT = `
  INSERT INTO sign_in_brakes AS brake (subject, failures, ends_at) VALUES ($1, 1, now() + $2 * interval '1 second')
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN brake.ends_at <= now() THEN 1 ELSE least(brake.failures + 1, 1000000) END,
    ends_at = CASE WHEN brake.ends_at <= now() THEN excluded.ends_at ELSE brake.ends_at END
  RETURNING failures, ceil(extract(epoch FROM ends_at - now()))::integer AS seconds`;
const UNDO = 'UPDATE sign_in_brakes SET failures = greatest(failures - 1, 0) WHERE subject = ANY ($1)';
const GIVE_BACK = `
  UPDATE sign_in_brakes SET failures = CASE WHEN subject = $2 THEN 0 ELSE greatest(failures - 1, 0) END
  WHERE subject = ANY ($1)`;
/** Each success and each failure removes a few old rows, which saves a cleanup job. */
const FORGET = `
  DELETE FROM sign_in_brakes WHERE subject = ANY (ARRAY(
    SELECT subject FROM sign_in_brakes WHERE ends_at < now() ORDER BY ends_at LIMIT 10 FOR UPDATE SKIP LOCKED))`;

const IPV6_NETWORK_BITS = 64;

/** The IP address of the attempt, and its account, which may not exist. */
export interface SignInAttempt {
  readonly address: string;
  /** The email address, or the id of a user. */
  readonly account: string;
}

/**
 * Throttles guessing, with counts in PostgreSQL shared by all processes: by address, by account, and by both. Each throttle ends with its
 * window, so no account is locked permanently.
 */
@Injectable()
export class SignInBrakes {
  constructor(
    private readonly database: DataSource,
    private readonly tokens: OpaqueTokens,
  ) {}

  /** Counts an attempt. Rejects with `rate_limited` after too many; the password must not be checked then. */
  async count(attempt: SignInAttempt): Promise<void> {
    await this.database.query(FORGET);
    for (const [brake, subject] of this.subjectsOf(attempt)) {
      const [row] = await this.database.query<{ failures: number; seconds: number }[]>(COUNT, [
        subject,
        brake.windowSeconds,
      ]);
      if (row && row.failures > brake.most)
        throw new AppError('rate_limited', {
          subject: 'failed sign-ins',
          retryAfterSeconds: Math.max(row.seconds, 1),
        });
    }
  }

  /** The attempt was not a guess, because it lacked the second factor. */
  async undo(attempt: SignInAttempt): Promise<void> {
    await this.database.query(UNDO, [this.subjectsOf(attempt).map(([, subject]) => subject)]);
  }

  /** The attempt succeeded, so it and the user's earlier ones from there do not count as failures. */
  async giveBack(attempt: SignInAttempt): Promise<void> {
    const subjects = this.subjectsOf(attempt);
    const [, pair] = subjects.find(([brake]) => brake === FOR_ACCOUNT_FROM_ADDRESS) ?? [];
    await this.database.query(GIVE_BACK, [subjects.map(([, subject]) => subject), pair]);
  }

  private subjectsOf({ address, account }: SignInAttempt): [Brake, Buffer][] {
    const from = networkOf(address);
    const names = [
      [FROM_ADDRESS, from],
      [FOR_ACCOUNT_FROM_ADDRESS, `${from} ${account}`],
      [FOR_ACCOUNT, account],
    ] as const;
    return names.map(([brake, name]) => [
      brake,
      this.tokens.hashOf('sign-in brake', `${brake.kind} ${name}`),
    ]);
  }
}

/** One IPv6 host has 2^64 addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString();
}
