import type { Reach } from '../../auth/tenant.js';
import { type ChangedResource, type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import type {
  ClientDisconnectRule,
  UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { SecretBox } from '../../common/crypto/envelope.js';
import { credentialBindingOf } from '../../common/crypto/credential-binding.js';
import type { Queryable } from '../../database/queryable.js';
import { limitsOfRules, type SubjectRules } from '../../common/limits/limit.js';
import { AppError } from '../../common/errors/app-error.js';
import { isPromise, type MaybePromise } from '../../common/maybe-promise.js';
import { createLogger } from '../../common/observability/logger.js';
import { Secret } from '../../common/settings/secret.js';
import { WORKLOAD_IDENTITY } from '../../providers/auth-scheme.js';
import { VirtualKeyDirectory, type VirtualKeySnapshot } from '../../gateway/ports.js';
import { type KeyOverrides, ownTermsOf } from './key-overrides.js';
import type { MappedCredentials } from './mapped-credentials.js';
import { type MappingRow, MAPPINGS } from './reference-row.js';
import { MAY_USE, OWN_MODELS, USABLE_KEYS } from './usable-keys-sql.js';
import type { Memory, RememberingDirectory } from './snapshot/memory.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

interface VirtualKeyRow extends KeyOverrides, SubjectRules {
  readonly id: string;
  readonly slug: string;
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly provider_id: string;
  readonly custom_host: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly sealed_credentials: Buffer | null;
  readonly expires_at: Date | null;
  readonly on_client_disconnect: ClientDisconnectRule | null;
  readonly unsupported_parameters: UnsupportedParameterRule | null;
  readonly wrapped_key: Buffer;
  /** The integration that owns the credential, and the workspace that owns the integration; null for a credential of the key's own. */
  readonly integration_id: string | null;
  readonly integration_workspace_id: string | null;
  /** Null if the row has the whole credential. */
  readonly mappings: readonly MappingRow[] | null;
}

interface VirtualKeyLookup {
  readonly reach: Reach;
  readonly slug: string;
}

/** A key that cannot be decrypted is cached briefly as its error. */
interface OpenedVirtualKey {
  readonly id: string;
  /** Ids of the other resources that it was built from. */
  readonly parts: readonly string[];
  readonly opened: VirtualKeySnapshot | AppError;
  readonly mappings: readonly MappingRow[] | null;
}

/**
 * A slug names a virtual key or a workspace's provider. The provider takes destination and credential from its integration, as long as the
 * workspace may use that integration.
 */
const BY_SLUG = `
  SELECT key.id, key.slug, key.organization_id, key.workspace_id, key.integration_id, key.expires_at, key.prices,
    key.rate_limits, key.usage_limits, key.on_client_disconnect, key.unsupported_parameters,
    shared.workspace_id AS integration_workspace_id, shared.allows_all_models,
    coalesce(key.provider_id, shared.provider_id) AS provider_id,
    coalesce(key.custom_host, shared.custom_host) AS custom_host,
    coalesce(shared.fields, key.fields) AS fields,
    coalesce(key.sealed_credentials, shared.sealed_credentials) AS sealed_credentials,
    organization.wrapped_key,
    ${OWN_MODELS} AS models, ${MAPPINGS} AS mappings,
    (SELECT jsonb_object_agg(model, price) FROM model_prices
      WHERE organization_id = key.organization_id
        AND provider_id = coalesce(key.provider_id, shared.provider_id)) AS organization_prices
  ${USABLE_KEYS}
  WHERE key.organization_id = $1 AND key.slug = $2 AND ($3::uuid IS NULL OR key.workspace_id = $3)
    AND ${MAY_USE}`;

/** A change of one of these invalidates keys. */
const CONCERNED: ReadonlySet<ChangedResource> = new Set([
  'virtual_key',
  'integration',
  'organization',
  'secret_reference',
]);

const log = createLogger('virtual-keys');
/** The administration cannot create such a row. Logged at each load of the key, every few seconds while it is in use. */
const DOES_NOT_OPEN =
  'A stored credential cannot be decrypted: its row was changed outside the service, or it was encrypted with another master key.';

const UNUSABLE_AGES: Ages = { softMs: 5_000, hardMs: 5_000, staleMs: 5_000 };
const MAX_SLUG_LENGTH = 255;
/** Each value holds a decrypted credential. */
const MAX_OPENED = 10_000;

/** Virtual keys and providers from PostgreSQL, decrypted once when they are loaded and cached by reach and slug. */
export class PostgresVirtualKeyDirectory extends VirtualKeyDirectory implements RememberingDirectory {
  private readonly cache: RefreshingCache<VirtualKeyLookup, VirtualKeyRow, OpenedVirtualKey>;

  /** `staleKeysMs`: how long known keys keep working while the database is unavailable. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    private readonly secrets: SecretBox,
    staleKeysMs: number,
    private readonly mapped: MappedCredentials,
  ) {
    super();
    const ages: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs: staleKeysMs };
    this.cache = new RefreshingCache({
      load: (lookup) => this.load(lookup),
      open: (row) => this.found(row),
      question: BY_SLUG,
      idOf: ({ id }) => id,
      partsOf: ({ parts }) => parts,
      agesOf: ({ opened }) => (opened instanceof AppError ? UNUSABLE_AGES : ages),
      maxFound: MAX_OPENED,
    });
    changes.subscribe((change) => {
      if (change === null) this.cache.clear();
      else if (CONCERNED.has(change.resource)) this.cache.forget(change.id);
    });
  }

  get memories(): readonly Memory[] {
    return [this.cache, this.mapped.values];
  }

  override credentialRefused(id: string): void {
    this.mapped.noteRefused(id);
  }

  override find(reach: Reach, slug: string): VirtualKeySnapshot | null | Promise<VirtualKeySnapshot | null> {
    if (slug.length > MAX_SLUG_LENGTH || slug.includes('\0')) return null;
    // Both ids are of fixed length or empty, so that two reaches never give the same cache key.
    const found = this.cache.find(`${reach.organizationId}/${reach.workspaceId ?? ''}/${slug}`, {
      reach,
      slug,
    });
    if (isPromise(found)) return found.then((key) => this.completed(key));
    try {
      return this.completed(found);
    } catch (error) {
      return Promise.reject(AppError.from(error));
    }
  }

  private completed(found: OpenedVirtualKey | null): MaybePromise<VirtualKeySnapshot | null> {
    if (found?.opened instanceof AppError) throw found.opened;
    if (!found?.mappings) return found?.opened ?? null;
    return this.mapped.complete(found.opened, found.mappings);
  }

  private async load({ reach, slug }: VirtualKeyLookup): Promise<VirtualKeyRow | null> {
    const parameters = [reach.organizationId, slug, reach.workspaceId ?? null];
    const [row] = await this.database.query<VirtualKeyRow>(BY_SLUG, parameters);
    return row ?? null;
  }

  private found(row: VirtualKeyRow): OpenedVirtualKey {
    const { integration_id: integration, organization_id: organization } = row;
    const references = row.mappings?.flatMap(({ reference }) => reference?.id ?? []) ?? [];
    const parts = [organization, ...(integration === null ? [] : [integration]), ...references];
    return { id: row.id, parts, opened: this.open(row), mappings: row.mappings };
  }

  private open(row: VirtualKeyRow): VirtualKeySnapshot | AppError {
    const owner = { organizationId: row.organization_id, subject: `the virtual key "${row.slug}"` };
    const limits = limitsOfRules(owner, row);
    try {
      return {
        id: row.id,
        slug: row.slug,
        workspaceId: row.workspace_id,
        providerId: row.provider_id,
        customHost: row.custom_host,
        credentials: { key: this.keyOf(row), fields: row.fields, ...identityOf(row) },
        expiresAt: row.expires_at?.getTime() ?? null,
        ...ownTermsOf(row),
        ...(limits.length > 0 ? { limits } : {}),
        ...(row.on_client_disconnect ? { onClientDisconnect: row.on_client_disconnect } : {}),
        ...(row.unsupported_parameters ? { unsupportedParameters: row.unsupported_parameters } : {}),
      };
    } catch (error) {
      const refusal =
        error instanceof AppError ? error : new AppError('credential_unusable', {}, { cause: error });
      log.error(
        { virtual_key_id: row.id, organization_id: row.organization_id, err: refusal },
        DOES_NOT_OPEN,
      );
      return refusal;
    }
  }

  private keyOf(row: VirtualKeyRow) {
    if (row.fields[WORKLOAD_IDENTITY] !== undefined) return IN_PLACE_OF_KEY;
    if (row.sealed_credentials === null) return null;
    const binding = credentialBindingOf({
      id: row.integration_id ?? row.id,
      organizationId: row.organization_id,
      workspaceId: row.integration_id === null ? row.workspace_id : row.integration_workspace_id,
      providerId: row.provider_id,
      customHost: row.custom_host,
    });
    const wrapped = { organizationId: row.organization_id, wrapped: row.wrapped_key };
    return this.secrets.open(wrapped, binding, row.sealed_credentials);
  }
}

/** Stands for the key, so that the target counts as one with a credential. The signer sends a token of the machine instead. */
const IN_PLACE_OF_KEY = new Secret('workload identity');

/** Its tokens are sent to the cloud only, never to an address that a tenant chose. */
function identityOf(row: VirtualKeyRow): Pick<VirtualKeySnapshot['credentials'], 'identityFor'> {
  if (row.fields[WORKLOAD_IDENTITY] === undefined) return {};
  if (row.custom_host !== null) throw new AppError('credential_unusable');
  return { identityFor: row.organization_id };
}
