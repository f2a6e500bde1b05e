import type { Reach } from '../auth/tenant.js';
import type { ChangeFeed } from '../common/changes/change.js';
import type { SecretBox } from '../common/crypto/envelope.js';
import { credentialBindingOf } from '../common/database/credential-binding.js';
import type { Queryable } from '../common/database/queryable.js';
import { limitsOf, type SubjectRules } from '../common/limits/limit.js';
import { AppError } from '../common/errors/app-error.js';
import { VirtualKeyDirectory, type VirtualKeySnapshot } from '../gateway/ports.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

interface Row extends SubjectRules {
  readonly id: string;
  readonly slug: string;
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly provider_id: string;
  readonly custom_host: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly sealed_credentials: Buffer | null;
  readonly expires_at: Date | null;
  readonly wrapped_key: Buffer;
}

interface Asked {
  readonly reach: Reach;
  readonly slug: string;
}

/** A key that cannot be opened is remembered as its refusal, shortly. */
interface Found {
  readonly id: string;
  readonly opened: VirtualKeySnapshot | AppError;
}

const BY_SLUG = `
  SELECT key.id, key.slug, key.organization_id, key.workspace_id, key.provider_id, key.custom_host, key.fields,
    key.sealed_credentials, key.expires_at, key.rate_limits, key.usage_limits, organization.wrapped_key
  FROM virtual_keys key JOIN organizations organization ON organization.id = key.organization_id
  WHERE key.organization_id = $1 AND key.slug = $2 AND ($3::uuid IS NULL OR key.workspace_id = $3)`;

const UNUSABLE_AGES: Ages = { softMs: 5_000, hardMs: 5_000, staleMs: 5_000 };
const MAX_SLUG_LENGTH = 255;
/** Each holds a credential in clear. */
const MAX_OPENED = 10_000;

/** Virtual keys from PostgreSQL, opened once when they are loaded and remembered by who may see them and slug. */
export class PostgresVirtualKeyDirectory extends VirtualKeyDirectory {
  private readonly cache: RefreshingCache<Asked, Found>;

  /** `staleKeysMs`: how long known keys keep working while the database is away. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    private readonly secrets: SecretBox,
    staleKeysMs: number,
  ) {
    super();
    const ages: Ages = { softMs: 10_000, hardMs: 20_000, staleMs: staleKeysMs };
    this.cache = new RefreshingCache({
      load: (asked) => this.load(asked),
      idOf: ({ id }) => id,
      agesOf: ({ opened }) => (opened instanceof AppError ? UNUSABLE_AGES : ages),
      maxFound: MAX_OPENED,
    });
    changes.subscribe((change) => {
      if (change === null) this.cache.clear();
      else if (change.resource === 'virtual_key') this.cache.forget(change.id);
    });
  }

  override find(reach: Reach, slug: string): VirtualKeySnapshot | null | Promise<VirtualKeySnapshot | null> {
    if (slug.length > MAX_SLUG_LENGTH || slug.includes('\0')) return null;
    // Both ids are of fixed length or empty, so that no two places give the same key.
    const found = this.cache.find(`${reach.organizationId}/${reach.workspaceId ?? ''}/${slug}`, {
      reach,
      slug,
    });
    if (found instanceof Promise) return found.then(snapshotOf);
    return found?.opened instanceof AppError ? Promise.reject(found.opened) : (found?.opened ?? null);
  }

  private async load({ reach, slug }: Asked): Promise<Found | null> {
    const parameters = [reach.organizationId, slug, reach.workspaceId ?? null];
    const rows: Row[] = await this.database.query(BY_SLUG, parameters);
    const [row] = rows;
    return row ? { id: row.id, opened: this.open(row) } : null;
  }

  private open(row: Row): VirtualKeySnapshot | AppError {
    const owner = { organizationId: row.organization_id, subject: `the virtual key "${row.slug}"` };
    const limits = limitsOf(owner, row);
    try {
      return {
        id: row.id,
        slug: row.slug,
        workspaceId: row.workspace_id,
        providerId: row.provider_id,
        customHost: row.custom_host,
        credentials: { key: this.keyOf(row), fields: row.fields },
        expiresAt: row.expires_at?.getTime() ?? null,
        ...(limits.length > 0 ? { limits } : {}),
      };
    } catch (error) {
      return error instanceof AppError ? error : new AppError('credential_unusable', {}, { cause: error });
    }
  }

  private keyOf(row: Row) {
    if (row.sealed_credentials === null) return null;
    const binding = credentialBindingOf({
      id: row.id,
      organizationId: row.organization_id,
      workspaceId: row.workspace_id,
      providerId: row.provider_id,
      customHost: row.custom_host,
    });
    const wrapped = { organizationId: row.organization_id, wrapped: row.wrapped_key };
    return this.secrets.open(wrapped, binding, row.sealed_credentials);
  }
}

function snapshotOf(found: Found | null): VirtualKeySnapshot | null {
  if (found?.opened instanceof AppError) throw found.opened;
  return found?.opened ?? null;
}
