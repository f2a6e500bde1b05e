import { mapMaybePromise } from '../../common/maybe-promise.js';
import { hash } from 'node:crypto';
import { type KnownKey, TokenDirectory } from '../../auth/ports.js';
import { readToken, unverifiedClaims } from '../../auth/tokens/compact-token.js';
import { checkUnknown } from '../../auth/tokens/just-in-time-user.js';
import { checkAuthor, checkMayStandFor } from '../../auth/tokens/rules-author.js';
import { namedBy, principalOfToken } from '../../auth/tokens/token-subject.js';
import { verifyToken, type VerifiedToken } from '../../auth/tokens/verify-token.js';
import { type ChangedResource, type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import type { Queryable } from '../../database/queryable.js';
import type { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Memory, RememberingDirectory } from '../directories/snapshot/memory.js';
import { type Ages, RefreshingCache } from '../directories/refreshing-cache.js';
import { KeyRenewal } from './key-renewal.js';
import { type TokenIssuer, TokenIssuers } from './token-issuers.js';
import { TokenSubjects } from './token-subjects.js';

/** A valid token without access to its destination is cached briefly as its error. */
interface KnownToken {
  readonly known: KnownKey | AppError;
}

/** Roles of users, and the policies that requests inherit from an organization or a workspace. */
const BINDS_MANY_TOKENS: ReadonlySet<ChangedResource> = new Set(['organization', 'user', 'workspace']);

const MINUTE_MS = 60_000;
/** Users administer: a right taken from them must be gone within five seconds. */
const PERSON_AGES: Ages = { softMs: 2_500, hardMs: 5_000, staleMs: 5 * MINUTE_MS };
const REFUSAL_AGES: Ages = { softMs: 5_000, hardMs: 5_000, staleMs: 5_000 };

/**
 * Signed tokens, verified once and cached by the SHA-256 of the whole token, so that no two tokens can be confused and memory holds none.
 * Cached results are verified again as often as API keys are reloaded: a withdrawn key of the issuer, a removed role and changed rules take
 * effect within seconds.
 */
export class PostgresTokenDirectory extends TokenDirectory implements RememberingDirectory {
  private readonly cache: RefreshingCache<string, KnownToken, KnownToken>;
  private readonly issuers: TokenIssuers;
  private readonly subjects: TokenSubjects;
  private readonly renewal: KeyRenewal;

  /** `staleKeysMs`: how long workspace tokens keep working while the database is unavailable. */
  constructor(database: Queryable, changes: ChangeFeed, egress: Egress, staleKeysMs: number) {
    super();
    const workspaceAges: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs: staleKeysMs };
    this.issuers = new TokenIssuers(database, changes, staleKeysMs);
    this.subjects = new TokenSubjects(database, changes, staleKeysMs);
    this.renewal = new KeyRenewal(database, egress, () => this.issuers.forget());
    this.cache = new RefreshingCache({
      load: (token) => this.load(token),
      open: (token) => token,
      idOf: () => '',
      agesOf: ({ known }) => {
        if (known instanceof AppError) return REFUSAL_AGES;
        return known.principal.kind === 'person' ? PERSON_AGES : workspaceAges;
      },
    });
    changes.subscribe((change) => {
      if (change?.resource === 'organization') this.renewal.forget(change.id);
      if (change === null || BINDS_MANY_TOKENS.has(change.resource)) this.cache.clear();
    });
  }

  /** Issuers and subjects, not tokens: with both at hand, each token is verified without the database. */
  get memories(): readonly Memory[] {
    return [this.issuers.memory, this.subjects.memory];
  }

  override find(token: string): KnownKey | null | Promise<KnownKey | null> {
    const found = this.cache.find(hash('sha256', token, 'hex'), token);
    return mapMaybePromise(found, knownOf, nullIfKeyIsUnknown);
  }

  override isOurs(token: string): boolean | Promise<boolean> {
    const claims = unverifiedClaims(token);
    const issuer = claims && this.issuers.namedIn(claims);
    // While the store is unavailable, a provider's own token must still pass.
    return mapMaybePromise(
      issuer,
      (known) => known !== null,
      () => false,
    );
  }

  private async load(text: string): Promise<KnownToken | null> {
    const token = readToken(text);
    const named = token && (await this.issuers.namedIn(token.claims));
    if (!token || !named) return null;
    const issuer = await this.renewal.current(named, token.keyId);
    const verified = await verifyToken(token, issuer.rules, issuer.keys, Date.now());
    if (verified) return this.subject(issuer, verified);
    if (issuer.jwksUri !== null && !issuer.keys.has(token.keyId)) throw new UnknownKey();
    return null;
  }

  private async subject(
    { organizationId, rules }: TokenIssuer,
    verified: VerifiedToken,
  ): Promise<KnownToken | null> {
    const named = namedBy(verified.claims, rules.claims);
    const subject = await this.subjects.of(organizationId, named);
    try {
      checkAuthor(subject.author);
      if (subject.person) checkMayStandFor(subject.person.role, subject.author, rules);
      else checkUnknown(named.user, { organizationId, claims: verified.claims, rules });
      const principal = principalOfToken(named, subject);
      return principal && { known: { principal, expiresAt: verified.expiresAt } };
    } catch (error) {
      if (error instanceof AppError) return { known: error };
      throw error;
    }
  }
}

/** Refused now, but not cached: the issuer's keys may be fetched again within half a minute. */
class UnknownKey extends Error {
  constructor() {
    super('The token names a key that its issuer has not published.');
  }
}

function nullIfKeyIsUnknown(error: unknown): null {
  if (error instanceof UnknownKey) return null;
  throw error;
}

function knownOf(token: KnownToken | null): KnownKey | null {
  if (token?.known instanceof AppError) throw token.known;
  return token?.known ?? null;
}
