import { LRUCache } from 'lru-cache';
import type { Reach } from '../../auth/tenant.js';
import { type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import {
  mistakesInWords,
  readRoutingConfig,
  type RoutingConfig,
} from '../../routing-config/routing-config.js';
import type { Queryable } from '../../database/queryable.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { createLogger } from '../../common/observability/logger.js';
import { ConfigDirectory, type ConfigSnapshot } from '../../gateway/ports.js';
import type { Memory, RememberingDirectory } from './snapshot/memory.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

interface ConfigRow {
  readonly id: string;
  readonly slug: string;
  readonly version_id: string;
  readonly document: unknown;
}

interface ConfigLookup {
  readonly reach: Reach;
  readonly name: string;
}

/** A config without a workspace applies to every workspace of its organization. */
const BY_NAME = `
  SELECT config.id, config.slug, version.id AS version_id, version.document
  FROM configs config JOIN config_versions version ON version.config_id = config.id AND version.id = config.version_id
  WHERE config.organization_id = $1 AND config.status = 'active'
    AND CASE WHEN $4 THEN config.id = $2::uuid ELSE config.slug = $3 END
    AND ($5::uuid IS NULL OR config.workspace_id IS NULL OR config.workspace_id = $5)`;

/** Versions before the active one, newest first. */
const EARLIER = `
  SELECT version.id AS version_id, version.document FROM config_versions version
  WHERE version.config_id = $1 AND version.number < (SELECT number FROM config_versions WHERE id = $2)
  ORDER BY version.number DESC LIMIT 5`;

const SLUGS = `
  SELECT slug FROM configs
  WHERE organization_id = $1 AND status = 'active' AND ($2::uuid IS NULL OR workspace_id IS NULL OR workspace_id = $2)
  ORDER BY slug LIMIT 1000`;
const SLUG_LISTS_MAX = 100;
/** A client that repeats a wrong name causes one query in this time. */
const SLUG_LISTS_AGE_MS = 10_000;

const NO_ID = '00000000-0000-0000-0000-000000000000';
const NAME_CHARS_MAX = 255;
const CONFIGS_MAX = 2_000;

const logger = createLogger('directories');

/**
 * Saved configs from PostgreSQL, parsed and checked once per version. A version that cannot be parsed, because it was written past the
 * administration, is replaced by the last valid one, and the log reports it.
 */
export class PostgresConfigDirectory extends ConfigDirectory implements RememberingDirectory {
  private readonly cache: RefreshingCache<ConfigLookup, ConfigRow, ConfigSnapshot>;
  /** By version, so that reloading an unchanged config returns the same object. */
  private readonly versions = new LRUCache<string, ConfigSnapshot>({ max: CONFIGS_MAX });
  private readonly slugLists = new LRUCache<string, readonly string[], Reach>({
    max: SLUG_LISTS_MAX,
    ttl: SLUG_LISTS_AGE_MS,
    fetchMethod: (_key, _stale, { context }) => this.loadSlugs(context),
  });

  /** `staleMs`: how long known configs stay in use while the database is unavailable. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    staleMs: number,
  ) {
    super();
    const ages: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs };
    this.cache = new RefreshingCache({
      load: (lookup) => this.load(lookup),
      open: (row) => this.open(row),
      question: BY_NAME,
      idOf: ({ id }) => id,
      agesOf: () => ages,
      maxFound: CONFIGS_MAX,
    });
    changes.subscribe((change) => {
      if (change === null) this.cache.clear();
      else if (change.resource === 'config') this.cache.forget(change.id);
    });
  }

  get memories(): readonly Memory[] {
    return [this.cache];
  }

  override find(reach: Reach, name: string): ConfigSnapshot | null | Promise<ConfigSnapshot | null> {
    if (name.length > NAME_CHARS_MAX || name.includes('\0')) return null;
    return this.cache.find(`${keyOf(reach)}/${name}`, { reach, name });
  }

  override async slugs(reach: Reach): Promise<readonly string[]> {
    return (await this.slugLists.fetch(keyOf(reach), { context: reach })) ?? [];
  }

  private async loadSlugs({ organizationId, workspaceId }: Reach): Promise<readonly string[]> {
    const rows = await this.database.query<Pick<ConfigRow, 'slug'>>(SLUGS, [
      organizationId,
      workspaceId ?? null,
    ]);
    return rows.map(({ slug }) => slug);
  }

  private async load({ reach, name }: ConfigLookup): Promise<ConfigRow | null> {
    const isId = isUuid(name);
    const parameters = [reach.organizationId, isId ? name : NO_ID, name, isId, reach.workspaceId ?? null];
    const [row] = await this.database.query<ConfigRow>(BY_NAME, parameters);
    if (!row) return null;
    return this.snapshotOf(row) ? row : this.lastGood(row);
  }

  private async lastGood({ id, slug, version_id }: ConfigRow): Promise<ConfigRow> {
    const earlier = await this.database.query<Pick<ConfigRow, 'version_id' | 'document'>>(EARLIER, [
      id,
      version_id,
    ]);
    for (const version of earlier) {
      const row = { id, slug, ...version };
      if (this.snapshotOf(row)) return row;
    }
    throw unreadable(slug);
  }

  private open(row: ConfigRow): ConfigSnapshot {
    const snapshot = this.snapshotOf(row);
    if (!snapshot) throw unreadable(row.slug);
    return snapshot;
  }

  private snapshotOf(row: ConfigRow): ConfigSnapshot | null {
    const known = this.versions.get(row.version_id);
    if (known?.slug === row.slug) return known;
    const document = this.documentOf(row);
    if (!document) return null;
    const snapshot = { id: row.id, slug: row.slug, versionId: row.version_id, document };
    this.versions.set(snapshot.versionId, snapshot);
    return snapshot;
  }

  private documentOf({ id, version_id, document }: ConfigRow): RoutingConfig | null {
    const read = readRoutingConfig(document);
    if (!read.mistakes) return read.config;
    const mistakes = mistakesInWords(read.mistakes);
    logger.error(
      { config_id: id, version_id, mistakes },
      'A stored version of a config cannot be read; the last good one stays in force.',
    );
    return null;
  }
}

const keyOf = ({ organizationId, workspaceId = '' }: Reach): string => `${organizationId}/${workspaceId}`;

const unreadable = (slug: string): AppError =>
  new AppError('config_invalid', { detail: `no version of "${slug}" that is stored can be read` });
