import { setTimeout as sleep } from 'node:timers/promises';
import { KeySet } from '../../auth/tokens/key-set.js';
import type { Queryable } from '../../database/queryable.js';
import type { Egress } from '../../egress/egress.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { createLogger } from '../../common/observability/logger.js';
import { publishedKeys } from './published-keys.js';
import { ISSUER_COLUMNS, type IssuerRow, issuerOf, type TokenIssuer } from './token-issuers.js';

const logger = createLogger('tokens');

/** At most two fetches a minute for an organization, by all processes of all instances together. */
const PAUSE_MS = 30_000;
const REFRESH_AFTER_MS = 5 * 60_000;
/** Keys that could not be fetched again for this long are no longer trusted. */
const STALE_AFTER_MS = 24 * 60 * 60_000;

/** The row is the lock: the process that moves `tried_at` fetches, and the others read the result. */
const LOCK_RENEWAL = `
  WITH turn AS (
    UPDATE organization_jwt SET tried_at = now()
    WHERE organization_id = $1 AND jwks_uri = $2 AND (tried_at IS NULL OR tried_at < now() - interval '30 seconds')
    RETURNING organization_id
  )
  SELECT * FROM turn`;
const KEEP_KEYS = `
  WITH kept AS (
    UPDATE organization_jwt SET keys = $3::jsonb, fetched_at = now(), problem = NULL
    WHERE organization_id = $1 AND jwks_uri = $2 RETURNING ${ISSUER_COLUMNS}
  )
  SELECT * FROM kept`;
const KEEP_PROBLEM = 'UPDATE organization_jwt SET problem = $3 WHERE organization_id = $1 AND jwks_uri = $2';
const READ = `
  SELECT ${ISSUER_COLUMNS}, extract(epoch FROM now() - tried_at)::float8 * 1000 AS tried_ago_ms
  FROM organization_jwt WHERE organization_id = $1 AND jwks_uri = $2`;

/** How long to wait for another process that is fetching. */
const OTHERS_FETCH_MS = 2_600;
const LOOK_AGAIN_MS = 200;

interface TriedRow extends IssuerRow {
  readonly tried_ago_ms: number | null;
}

/**
 * Fetches published keys again: in the background when they are five minutes old, and at once when a token names an unknown one. They are
 * stored in the database, so that one fetch serves all processes, and a restart while the issuer is unavailable loses nothing.
 */
export class KeyRenewal {
  private readonly running = new Map<string, Promise<TokenIssuer | null>>();
  private readonly notBefore = new Map<string, number>();

  constructor(
    private readonly database: Queryable,
    private readonly egress: Egress,
    private readonly onRenewed: () => void,
  ) {}

  /** The issuer with the best available keys: waits for a fetch only when the requested key is not among them. */
  async current(issuer: TokenIssuer, keyId: string | null): Promise<TokenIssuer> {
    if (issuer.jwksUri === null) return issuer;
    const age = Date.now() - issuer.fetchedAt;
    const isUsable = age < STALE_AFTER_MS && issuer.keys.has(keyId);
    if (isUsable && age < REFRESH_AFTER_MS) return issuer;
    const renewing = this.renew(issuer, issuer.jwksUri);
    if (isUsable) return issuer;
    return (await renewing) ?? (age < STALE_AFTER_MS ? issuer : { ...issuer, keys: new KeySet([]) });
  }

  /** Call it after the setting changed: the address may be a new one, which was not fetched yet. */
  forget(organizationId: string): void {
    this.notBefore.delete(organizationId);
  }

  /** Newer keys, or null when none can be had now. Never rejects. */
  private renew(issuer: TokenIssuer, uri: string): Promise<TokenIssuer | null> {
    const { organizationId } = issuer;
    const running = this.running.get(organizationId);
    if (running) return running;
    if (performance.now() < (this.notBefore.get(organizationId) ?? 0)) return Promise.resolve(null);
    const started = this.fetchOrAwait(issuer, uri)
      .catch((error: unknown) => {
        logger.warn({ failure: describeFailure(error) }, 'The keys of an issuer could not be renewed.');
        return null;
      })
      .finally(() => this.running.delete(organizationId));
    this.running.set(organizationId, started);
    return started;
  }

  private async fetchOrAwait(issuer: TokenIssuer, uri: string): Promise<TokenIssuer | null> {
    const { organizationId } = issuer;
    this.waitBefore(organizationId, PAUSE_MS);
    const turn = await this.database.query<object>(LOCK_RENEWAL, [organizationId, uri]);
    const renewed = turn.length > 0 ? await this.fetch(organizationId, uri) : await this.others(issuer, uri);
    if (renewed) this.onRenewed();
    return renewed;
  }

  private async fetch(organizationId: string, uri: string): Promise<TokenIssuer | null> {
    const published = await publishedKeys(this.egress, organizationId, uri);
    if ('problem' in published) {
      logger.warn(
        { organization_id: organizationId, problem: published.problem },
        'The key set of an issuer is not usable.',
      );
      await this.database.query(KEEP_PROBLEM, [organizationId, uri, published.problem]);
      return null;
    }
    const [row] = await this.database.query<IssuerRow>(KEEP_KEYS, [
      organizationId,
      uri,
      JSON.stringify(published.keys),
    ]);
    return row ? issuerOf(row) : null;
  }

  /** Another process fetched within the last half minute or is about to; the row holds its result. */
  private async others({ organizationId, fetchedAt }: TokenIssuer, uri: string): Promise<TokenIssuer | null> {
    for (;;) {
      const [row] = await this.database.query<TriedRow>(READ, [organizationId, uri]);
      if (!row) return null;
      const triedAgoMs = row.tried_ago_ms ?? PAUSE_MS;
      this.waitBefore(organizationId, PAUSE_MS - triedAgoMs);
      if ((row.fetched_at?.getTime() ?? 0) > fetchedAt) return issuerOf(row);
      if (triedAgoMs > OTHERS_FETCH_MS) return null;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  private waitBefore(organizationId: string, ms: number): void {
    this.notBefore.set(organizationId, performance.now() + Math.max(ms, LOOK_AGAIN_MS));
  }
}
