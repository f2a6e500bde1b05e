import { hash } from 'node:crypto';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { ApiKeyDirectory, type KeyEnd, type KnownKey } from '../../auth/ports.js';
import { type ChangedResource, type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import { hashApiKey } from '../../common/crypto/key-hash.js';
import type { Secret } from '../../common/settings/secret.js';
import type { Queryable } from '../../database/queryable.js';
import { type ApiKeyRow, BY_HASH, END_BY_HASH, principalOfKey } from './api-key-rows.js';
import type { Memory, RememberingDirectory } from './snapshot/memory.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

/** The presented secret, or its digest as the table stores it. */
type PresentedSecret = string | Buffer;

const BINDS_MANY_KEYS: ReadonlySet<ChangedResource> = new Set(['organization', 'user', 'workspace']);

const MINUTE_MS = 60_000;
const ADMIN_AGES: Ages = { softMs: 2_500, hardMs: 5_000, staleMs: 5 * MINUTE_MS };

export interface ApiKeyDirectoryOptions {
  readonly pepper: Secret;
  /** How long workspace keys keep working while the database is unavailable, in milliseconds. */
  readonly staleKeysMs: number;
}

/**
 * API keys from PostgreSQL, cached by the SHA-256 of the presented secret, so that memory holds no secret. A deleted or rotated key is
 * dropped as soon as the change bus reports it.
 */
export class PostgresApiKeyDirectory extends ApiKeyDirectory implements RememberingDirectory {
  private readonly cache: RefreshingCache<PresentedSecret, ApiKeyRow, KnownKey>;

  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    private readonly options: ApiKeyDirectoryOptions,
  ) {
    super();
    const workspaceAges: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs: options.staleKeysMs };
    this.cache = new RefreshingCache({
      load: (presented) => this.load(presented),
      open: knownKey,
      question: BY_HASH,
      lasting: (presented) => this.digestOf(presented),
      idOf: ({ principal }) => principal.apiKeyId ?? '',
      agesOf: ({ principal }) => (principal.kind === 'admin_key' ? ADMIN_AGES : workspaceAges),
    });
    changes.subscribe((change) => {
      // A user's roles affect many keys; a change of an organization or a workspace affects all of its keys.
      if (change === null || BINDS_MANY_KEYS.has(change.resource)) this.cache.clear();
      else if (change.resource === 'api_key') this.cache.forget(change.id);
    });
  }

  get memories(): readonly Memory[] {
    return [this.cache];
  }

  override find(secret: string): KnownKey | null | Promise<KnownKey | null> {
    const known = this.cache.find(hash('sha256', secret, 'hex'), secret);
    return mapMaybePromise(known, unlessExpired);
  }

  override async endOf(secret: string): Promise<KeyEnd | null> {
    try {
      const [end] = await this.database.query<KeyEnd>(END_BY_HASH, [hashApiKey(this.options.pepper, secret)]);
      return end ?? null;
    } catch {
      return null;
    }
  }

  private async load(presented: PresentedSecret): Promise<ApiKeyRow | null> {
    const [row] = await this.database.query<ApiKeyRow>(BY_HASH, [this.digestOf(presented)]);
    return row ?? null;
  }

  private digestOf(presented: PresentedSecret): Buffer {
    return typeof presented === 'string' ? hashApiKey(this.options.pepper, presented) : presented;
  }
}

function knownKey(row: ApiKeyRow): KnownKey {
  return { principal: principalOfKey(row), expiresAt: earlier(row.expires_at, row.overlap_ends_at) };
}

function earlier(...times: readonly (Date | null)[]): number | null {
  const given = times.filter((time) => time !== null).map((time) => time.getTime());
  return given.length === 0 ? null : Math.min(...given);
}

/** A cached key expires to the millisecond, not at its next reload. */
function unlessExpired(known: KnownKey | null): KnownKey | null {
  return known === null || known.expiresAt === null || known.expiresAt > Date.now() ? known : null;
}
