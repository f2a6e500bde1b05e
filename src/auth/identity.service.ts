import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { isWellFormedApiKey } from '../common/crypto/api-key-format.js';
import { AppError } from '../common/errors/app-error.js';
import { presentedKey } from './credentials.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { FailedAttempts } from './failed-attempts.js';
import { ApiKeyDirectory, type KnownKey } from './ports.js';
import type { Principal } from './principal.js';

/**
 * Says who is calling, for both planes. Every failure is the same 401, whatever its reason;
 * an address that fails too often is told so with a 429.
 */
@Injectable()
export class IdentityService {
  private readonly failures = new FailedAttempts();

  constructor(
    private readonly directory: ApiKeyDirectory,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Returns without a promise when the key is in memory. Rejects with `unauthenticated`, `rate_limited` or `auth_unavailable`. */
  identify(request: IncomingMessage): Principal | Promise<Principal> {
    const secret = presentedKey(request.headers);
    if (secret === null) return this.refuse(request);
    const known = this.lookUp(secret);
    return known instanceof Promise
      ? known.then((key) => this.admit(key, request))
      : this.admit(known, request);
  }

  /** The checksum turns garbage away before any store is asked. */
  private lookUp(secret: string): KnownKey | null | Promise<KnownKey | null> {
    return isWellFormedApiKey(secret) ? this.directory.find(secret) : null;
  }

  private admit(key: KnownKey | null, request: IncomingMessage): Principal {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now())) return this.refuse(request);
    return key.principal;
  }

  /** Counts a failed attempt, also one of a caller without an API key, such as a guess at an invite. Throws `rate_limited` when there were too many. */
  countFailure(request: IncomingMessage): void {
    if (this.failures.record(this.addresses.of(request), Date.now()))
      throw new AppError('rate_limited', { subject: 'failed attempts from this address' });
  }

  private refuse(request: IncomingMessage): never {
    this.countFailure(request);
    throw new AppError('unauthenticated');
  }
}
