import type { IncomingHttpHeaders } from 'node:http';
import type { RequestOrigin } from '../../common/fast-path/messages.js';
import { Injectable } from '@nestjs/common';
import { isWellFormedApiKey } from '../../common/crypto/api-key-format.js';
import { AppError } from '../../common/errors/app-error.js';
import { hasSeveralKeys, keyBeside, presentedKey, tokenBeside } from './credentials.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { FailedAttempts } from './failed-attempts.js';
import { ApiKeyDirectory, type KnownKey, TokenDirectory } from '../ports.js';
import type { Principal } from '../principal.js';
import { looksLikeToken } from '../tokens/compact-token.js';

type Found = KnownKey | null | Promise<KnownKey | null>;

/**
 * Says who is calling, for both planes, by an API key or by a signed token. Every failure is the same 401, whatever its
 * reason; an address that fails too often is told so with a 429.
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
   * Returns without a promise when the credential is in memory. Rejects with `unauthenticated`, `rate_limited`,
   * `ambiguous_credentials` or `auth_unavailable`, and for a token with `forbidden`.
   */
  identify(request: RequestOrigin): Principal | Promise<Principal> {
    const presented = presentedKey(request.headers);
    if (presented === null) return this.refuse(request);
    const known = looksLikeToken(presented)
      ? this.lookUpToken(presented, request.headers)
      : this.lookUpKey(presented, request.headers);
    return known instanceof Promise
      ? known.then((found) => this.admit(found, request))
      : this.admit(known, request);
  }

  /** The checksum turns garbage away before any store is asked. */
  private lookUpKey(key: string, headers: IncomingHttpHeaders): Found {
    if (keyBeside(key, headers) !== null || hasSeveralKeys(key)) throw ambiguous('send one API key');
    const token = tokenBeside(key, headers);
    const known = isWellFormedApiKey(key) ? this.directory.find(key) : null;
    return token === null ? known : this.alone(token, known);
  }

  /** A token beside a key is the provider's, unless it says that it is for us: then nobody could say who is calling. */
  private async alone(token: string, known: Found): Promise<KnownKey | null> {
    const [isOurs, found] = await Promise.all([this.tokens.isOurs(token), known]);
    if (isOurs) throw ambiguous(NOT_BOTH);
    return found;
  }

  private lookUpToken(token: string, headers: IncomingHttpHeaders): Found {
    if (keyBeside(token, headers) !== null) throw ambiguous(NOT_BOTH);
    return this.tokens.find(token);
  }

  private admit(key: KnownKey | null, request: RequestOrigin): Principal {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now())) return this.refuse(request);
    return key.principal;
  }

  /** Counts a failed attempt, also one of a caller without an API key, such as a guess at an invite. Throws `rate_limited` when there were too many. */
  countFailure(request: RequestOrigin): void {
    if (this.failures.record(this.addresses.of(request), Date.now()))
      throw new AppError('rate_limited', { subject: 'failed attempts from this address' });
  }

  private refuse(request: RequestOrigin): never {
    this.countFailure(request);
    throw new AppError('unauthenticated');
  }
}

const NOT_BOTH = 'send the API key or the signed token, not both';

const ambiguous = (detail: string): AppError => new AppError('ambiguous_credentials', { detail });
