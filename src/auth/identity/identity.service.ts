import type { IncomingHttpHeaders } from 'node:http';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { LRUCache } from 'lru-cache';
import type { RequestOrigin } from '../../common/http/messages.js';
import { Injectable } from '@nestjs/common';
import { isWellFormedApiKey } from '../../common/crypto/api-key-format.js';
import { AppError } from '../../common/errors/app-error.js';
import { type PresentedCredential, readCredential } from './credentials.js';
import { mistypedHeader } from './mistyped-header.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import type { RefusalReason, RefusedRequest } from './recent-refusals.js';
import { refusedCredentials } from './refused-credentials.js';
import { ApiKeyDirectory, type KeyEnd, type KnownKey, TokenDirectory } from '../ports.js';
import type { Principal } from '../principal.js';

type KeyLookup = KnownKey | null | Promise<KnownKey | null>;

/**
 * Identifies the caller, for both planes, by an API key or a signed token. A caller with the complete secret of an ended key gets the
 * reason; every other failure is the same 401. An address that fails too often gets a 429.
 */
@Injectable()
export class IdentityService {
  private readonly failures = new FailedAttempts();

  constructor(
    private readonly directory: ApiKeyDirectory,
    private readonly tokens: TokenDirectory,
    private readonly addresses: ClientAddresses,
  ) {}

  /**
   * Returns without a promise when the credential is cached. Rejects with `unauthenticated`, `rate_limited`, `ambiguous_credentials` or
   * `auth_unavailable`, and for a token with `forbidden`. `credential`: the request's, if it was read before.
   */
  identify(
    request: RequestOrigin,
    credential: PresentedCredential = readCredential(request.headers),
  ): Principal | Promise<Principal> {
    // A client whose variable is empty sends an empty header.
    if (!credential.secret) return this.refuse(request);
    const known = this.lookUp(credential.secret, credential);
    return mapMaybePromise(known, (found) => this.admit(found, credential, request));
  }

  private lookUp(secret: string, { isToken, hasOtherKey, tokenBeside }: PresentedCredential): KeyLookup {
    if (hasOtherKey) throw ambiguous(isToken ? NOT_BOTH : 'send one API key');
    if (isToken) return this.tokens.find(secret);
    // The checksum rejects malformed keys before any store is queried.
    const known = isWellFormedApiKey(secret) ? this.directory.find(secret) : null;
    return tokenBeside === null ? known : this.alone(tokenBeside, known);
  }

  /** A token beside a key is the provider's, unless it is addressed to us: then the caller would be ambiguous. */
  private async alone(token: string, known: KeyLookup): Promise<KnownKey | null> {
    const [isOurs, found] = await Promise.all([this.tokens.isOurs(token), known]);
    if (isOurs) throw ambiguous(NOT_BOTH);
    return found;
  }

  private admit(
    key: KnownKey | null,
    { secret, isToken, misplacedIn }: PresentedCredential,
    request: RequestOrigin,
  ): Principal | Promise<Principal> {
    if (key && (key.expiresAt === null || key.expiresAt > Date.now())) return key.principal;
    if (secret !== null && isWellFormedApiKey(secret)) return this.refuseKey(secret, request);
    if (misplacedIn === null) return this.refuse(request, isToken ? 'token' : 'malformed');
    this.countFailure(request, 'provider_key');
    throw new AppError('provider_key_misplaced', { header: misplacedIn });
  }

  /** Only a caller with the complete secret learns that the key existed. */
  private async refuseKey(presented: string, request: RequestOrigin): Promise<never> {
    const address = this.checkFailures(request);
    const end = await this.directory.endOf(presented);
    const key = end && { id: end.apiKeyId, organizationId: end.organizationId };
    refusedCredentials.count(refusedRequest(request, { reason: end?.reason ?? 'unknown', address, key }));
    if (end === null) throw new AppError('unauthenticated', { problem: NOT_ACCEPTED });
    const ended = `${ENDED[end.reason]} ${end.at.toISOString().slice(0, 19)}Z`;
    throw new AppError('api_key_ended', { ended });
  }

  /** Counts a failed attempt, including one without an API key, such as a guess at an invite. Throws `rate_limited` after too many. */
  countFailure(request: RequestOrigin, reason: RefusalReason = 'unknown'): void {
    const address = this.checkFailures(request);
    refusedCredentials.count(refusedRequest(request, { reason, address }));
  }

  /** Returns the address of the caller. */
  private checkFailures(request: RequestOrigin): string {
    const address = this.addresses.of(request);
    if (!this.failures.record(address, Date.now())) return address;
    refusedCredentials.count(refusedRequest(request, { reason: 'throttled', address }));
    throw new AppError('rate_limited', { subject: 'failed attempts from this address' });
  }

  /** For a request without a valid credential. */
  refuse(request: RequestOrigin, reason: RefusalReason = 'missing'): never {
    this.countFailure(request, reason);
    throw new AppError('unauthenticated', {
      problem: reason === 'missing' ? missing(request.headers) : NOT_ACCEPTED,
    });
  }
}

const refusedRequest = (
  request: RequestOrigin,
  { reason, address, key = null }: Pick<RefusedRequest, 'reason' | 'address'> & Partial<RefusedRequest>,
): RefusedRequest => ({
  reason,
  address,
  key,
  presented: readCredential(request.headers).secret,
  target: request.url ?? '',
});

const ENDED: Readonly<Record<KeyEnd['reason'], string>> = {
  expired: 'expired at',
  revoked: 'was revoked at',
  replaced: 'was replaced by a rotation and stopped working at',
};

/** One text for every credential that is not accepted, whatever the reason: the reason would help to guess. */
const NOT_ACCEPTED = 'The gateway API key or signed token is not valid';

/** Names a header that is nearly the right one. */
function missing(headers: IncomingHttpHeaders): string {
  const mistyped = mistypedHeader(headers, ['api-key']);
  return `The request has no gateway API key${mistyped === null ? '' : `: ${mistyped}`}`;
}

const NOT_BOTH = 'send the API key or the signed token, not both';

const ambiguous = (detail: string): AppError => new AppError('ambiguous_credentials', { detail });

/** Failures from one address within a second before it gets a 429. */
const FAILURES_PER_SECOND = 50;
const WINDOW_MS = 1_000;
const ADDRESSES_MAX = 10_000;

interface FailureWindow {
  readonly startedAt: number;
  failures: number;
}

/**
 * Counts failed identifications by address, so that guessing is slow and causes no further work. Only failures are limited: a valid key
 * from a busy address continues to work.
 */
class FailedAttempts {
  private readonly windows = new LRUCache<string, FailureWindow>({ max: ADDRESSES_MAX });

  /** Records a failure; true when the address has had too many of them. */
  record(address: string, now: number): boolean {
    const window = this.windows.get(address);
    if (window && now - window.startedAt < WINDOW_MS) return ++window.failures > FAILURES_PER_SECOND;
    this.windows.set(address, { startedAt: now, failures: 1 });
    return false;
  }
}
