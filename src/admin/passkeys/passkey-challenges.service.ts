import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { isUniqueViolation } from '../../database/sessions/database-errors.js';
import { UsedPasskeyChallenge } from './passkey.entity.js';
import { AppError } from '../../common/errors/app-error.js';

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const BODY_BYTES = RANDOM_BYTES + TIME_BYTES;
const LASTS_MS = 5 * 60_000;

/** `add`: for one user who adds a passkey. `use`: for any caller that presents one. */
export type ChallengePurpose = `add ${string}` | 'use';

/**
 * Challenges of passkeys: random bytes, their expiry, and the server's MAC of both. Requesting one stores nothing, so no permission is
 * needed; only used ones are stored, until they would have expired, so that none can be used twice.
 */
@Injectable()
export class PasskeyChallenges {
  constructor(
    @InjectRepository(UsedPasskeyChallenge) private readonly used: Repository<UsedPasskeyChallenge>,
    private readonly tokens: OpaqueTokens,
  ) {}

  issue(purpose: ChallengePurpose): Buffer {
    const body = Buffer.alloc(BODY_BYTES);
    randomBytes(RANDOM_BYTES).copy(body);
    body.writeUIntBE(Date.now() + LASTS_MS, RANDOM_BYTES, TIME_BYTES);
    return Buffer.concat([body, this.macOf(purpose, body)]);
  }

  /** `challenge`: in base64url, as the browser signed it. */
  isOurs(purpose: ChallengePurpose, challenge: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    const body = bytes.subarray(0, BODY_BYTES);
    const mac = this.macOf(purpose, body);
    if (bytes.length !== BODY_BYTES + mac.length) return false;
    return timingSafeEqual(bytes.subarray(BODY_BYTES), mac) && endOf(bytes) > Date.now();
  }

  /** Refuses with `passkey_failed` a challenge that was used before. */
  async use(challenge: string): Promise<void> {
    const bytes = Buffer.from(challenge, 'base64url');
    await this.used.delete({ expiresAt: LessThan(new Date()) });
    try {
      await this.used.insert({ challenge: bytes, expiresAt: new Date(endOf(bytes)) });
    } catch (error) {
      throw isUniqueViolation(error) ? new AppError('passkey_failed') : error;
    }
  }

  private macOf(purpose: ChallengePurpose, body: Buffer): Buffer {
    return this.tokens.hashOf('passkey challenge', `${purpose} ${body.toString('hex')}`);
  }
}

const endOf = (challenge: Buffer): number => challenge.readUIntBE(RANDOM_BYTES, TIME_BYTES);
