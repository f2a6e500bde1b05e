import type { Claims } from '../../auth/tokens/compact-token.js';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { KeySet, type StoredKey } from '../../auth/tokens/key-set.js';
import type { TokenRules } from '../../auth/tokens/token-rules.js';
import { namesOrganization } from '../../auth/tokens/token-subject.js';
import { isText } from '../../auth/tokens/verify-token.js';
import { type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import type { Queryable } from '../../database/queryable.js';
import type { Memory } from '../directories/snapshot/memory.js';
import { type Ages, RefreshingCache } from '../directories/refreshing-cache.js';

/** An organization that accepts an issuer's tokens, with its rules and the issuer's keys. */
export interface TokenIssuer {
  readonly organizationId: string;
  readonly rules: TokenRules;
  /** Where the keys are published; null when the organization configured them itself. */
  readonly jwksUri: string | null;
  readonly keys: KeySet;
  /** When the keys were fetched; 0 if never. */
  readonly fetchedAt: number;
}

/** Columns of `organization_jwt`. */
export interface IssuerRow {
  readonly organization_id: string;
  readonly rules: TokenRules;
  readonly jwks_uri: string | null;
  readonly keys: readonly StoredKey[] | null;
  readonly fetched_at: Date | null;
}

export const ISSUER_COLUMNS = 'organization_id, rules, jwks_uri, keys, fetched_at';

const MOST_PER_ISSUER = 100;
const BY_ISSUER = `
  SELECT ${ISSUER_COLUMNS} FROM organization_jwt WHERE issuers @> ARRAY[$1::text]
  ORDER BY organization_id LIMIT ${MOST_PER_ISSUER}`;

interface Rows {
  readonly issuer: string;
  readonly rows: readonly IssuerRow[];
}

interface IssuerOrganizations {
  readonly issuer: string;
  readonly organizations: readonly TokenIssuer[];
}

const AGES = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS };
/** Anyone can invent an issuer. Beyond this many unknown ones per second, the store is not queried for them. */
const UNKNOWN_PER_SECOND = 20;

/** Organizations that accept tokens, by the issuer that a token names. */
export class TokenIssuers {
  private readonly cache: RefreshingCache<string, Rows, IssuerOrganizations>;
  private readonly known = new Set<string>();
  private second = 0;
  private lookups = 0;

  /** `staleMs`: how long they are served while the database is unavailable. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    staleMs: number,
  ) {
    const ages: Ages = { ...AGES, staleMs };
    this.cache = new RefreshingCache({
      load: (issuer) => this.load(issuer),
      open: (rows) => this.open(rows),
      question: BY_ISSUER,
      idOf: ({ issuer }) => issuer,
      agesOf: () => ages,
      maxFound: 10_000,
      maxAbsent: 10_000,
    });
    changes.subscribe((change) => {
      if (change === null || change.resource === 'organization') this.cache.clear();
    });
  }

  get memory(): Memory {
    return this.cache;
  }

  /** The one organization that the claims name, among those that accept tokens of their issuer. The claims are not verified yet. */
  namedIn(claims: Claims): TokenIssuer | null | Promise<TokenIssuer | null> {
    const { iss } = claims;
    if (!isText(iss) || !this.mayAsk(iss)) return null;
    return mapMaybePromise(this.cache.find(iss, iss), (issuer) => pick(issuer, claims));
  }

  /** Call it after keys were renewed: cached issuers must be reloaded. */
  forget(): void {
    this.cache.clear();
  }

  private mayAsk(issuer: string): boolean {
    if (this.known.has(issuer)) return true;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.second) [this.second, this.lookups] = [second, 0];
    return ++this.lookups <= UNKNOWN_PER_SECOND;
  }

  private async load(issuer: string): Promise<Rows | null> {
    const rows = await this.database.query<IssuerRow>(BY_ISSUER, [issuer]);
    if (rows.length === 0) {
      this.known.delete(issuer);
      return null;
    }
    return { issuer, rows };
  }

  private open({ issuer, rows }: Rows): IssuerOrganizations {
    this.known.add(issuer);
    return { issuer, organizations: rows.map(issuerOf) };
  }
}

export function issuerOf(row: IssuerRow): TokenIssuer {
  return {
    organizationId: row.organization_id,
    rules: row.rules,
    jwksUri: row.jwks_uri,
    keys: new KeySet(row.keys ?? []),
    fetchedAt: row.fetched_at?.getTime() ?? 0,
  };
}

function pick(issuer: IssuerOrganizations | null, claims: Claims): TokenIssuer | null {
  const named = issuer?.organizations.find(({ organizationId, rules }) =>
    namesOrganization(claims, rules.claims, organizationId),
  );
  return named ?? null;
}
