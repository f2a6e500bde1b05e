import type { Reach } from '../../auth/tenant.js';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { type ChangedResource, type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import type { Queryable } from '../../database/queryable.js';
import { type UsableKey, UsableKeys } from '../../gateway/ports.js';
import { type KeyOverrides, ownTermsOf } from './key-overrides.js';
import type { Memory, RememberingDirectory } from './snapshot/memory.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';
import { MAY_USE, OWN_MODELS, USABLE_KEYS } from './usable-keys-sql.js';

interface UsableKeyRow extends Pick<KeyOverrides, 'allows_all_models' | 'models'> {
  readonly slug: string;
  readonly provider_id: string;
  readonly expires_at: Date | null;
}

interface List {
  readonly id: string;
  readonly rows: readonly UsableKeyRow[];
}

interface UsableKeyList {
  readonly id: string;
  readonly keys: readonly UsableKey[];
}

/** Maximum keys of a list. The others are usable but not listed. */
const KEYS_MAX = 1_000;

/**
 * The first key of each kind precedes the rest, so that the limit drops no provider and no integration's choice of models. A kind is an
 * integration, or a provider with a credential of the virtual key's own.
 */
const OF_REACH = `
  SELECT slug, expires_at, allows_all_models, provider_id, ${OWN_MODELS} AS models
  FROM (
    SELECT key.slug, key.expires_at, shared.id, shared.allows_all_models,
      coalesce(key.provider_id, shared.provider_id) AS provider_id,
      row_number() OVER (PARTITION BY key.provider_id, key.integration_id ORDER BY key.slug) AS nth
    ${USABLE_KEYS}
    WHERE key.organization_id = $1 AND ($2::uuid IS NULL OR key.workspace_id = $2)
      AND (key.expires_at IS NULL OR key.expires_at > now()) AND ${MAY_USE}
    ORDER BY nth, key.slug LIMIT ${KEYS_MAX}
  ) shared
  ORDER BY nth, slug`;

/** A change of one of these invalidates the lists. */
const CONCERNED: ReadonlySet<ChangedResource> = new Set(['virtual_key', 'integration', 'organization']);

/** Maximum cached lists. */
const LISTS_MAX = 1_000;

/** Virtual keys and providers of workspaces from PostgreSQL, without their credentials. */
export class PostgresUsableKeys extends UsableKeys implements RememberingDirectory {
  private readonly cache: RefreshingCache<Reach, List, UsableKeyList>;

  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    staleKeysMs: number,
  ) {
    super();
    const ages: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs: staleKeysMs };
    this.cache = new RefreshingCache({
      load: (reach) => this.load(reach),
      open: ({ id, rows }): UsableKeyList => ({ id, keys: rows.map(usableKey) }),
      question: OF_REACH,
      idOf: ({ id }) => id,
      agesOf: () => ages,
      maxFound: LISTS_MAX,
    });
    // A new key is in no list yet, so no list can be found by its id.
    changes.subscribe((change) => {
      if (change === null || CONCERNED.has(change.resource)) this.cache.clear();
    });
  }

  get memories(): readonly Memory[] {
    return [this.cache];
  }

  override find(reach: Reach): readonly UsableKey[] | Promise<readonly UsableKey[]> {
    return mapMaybePromise(this.cache.find(idOf(reach), reach), keysOf);
  }

  private async load(reach: Reach): Promise<List> {
    const rows = await this.database.query<UsableKeyRow>(OF_REACH, [
      reach.organizationId,
      reach.workspaceId ?? null,
    ]);
    return { id: idOf(reach), rows };
  }
}

const idOf = ({ organizationId, workspaceId = '' }: Reach): string => `${organizationId}/${workspaceId}`;

const keysOf = (list: UsableKeyList | null): readonly UsableKey[] => list?.keys ?? [];

function usableKey({
  slug,
  provider_id: providerId,
  expires_at: expiresAt,
  ...terms
}: UsableKeyRow): UsableKey {
  const { models } = ownTermsOf({ ...terms, prices: null, organization_prices: null });
  return { slug, providerId, expiresAt: expiresAt?.getTime() ?? null, ...(models ? { models } : {}) };
}
