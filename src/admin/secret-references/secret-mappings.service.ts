import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { StoredSecretMapping } from '../../common/contracts/secret-mapping.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { AppError } from '../../common/errors/app-error.js';
import { fieldError, invalidField } from '../../common/errors/field-errors.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { Secret } from '../../common/settings/secret.js';
import { authPurpose } from '../../external-credentials/secret-managers/auth-purpose.js';
import { SecretManagers } from '../../external-credentials/secret-managers/secret-managers.js';
import type { SecretLocation } from '../../external-credentials/secret-managers/secret-location.js';
import { credentialIn } from '../../external-credentials/secret-managers/secret-text.js';
import { WORKLOAD_IDENTITY } from '../../providers/auth-scheme.js';
import type { Provider } from '../../providers/provider.js';
import { providerOf } from '../credentials/destination-of-key.js';
import type { SecretMappingDto } from '../dto-fields/secret-mapping.dto.js';
import { Organization } from '../tenancy/organization.entity.js';
import { SecretReference } from './secret-reference.entity.js';

const KEY = 'key';
const CUSTOM_HOST =
  'A custom host cannot be combined with secret references without the scope secret_references.read. Ask an administrator';

/** Names of the compatible API for the provider's key. */
const KEY_NAMES: ReadonlySet<string> = new Set([
  'aws-secret-access-key',
  'azure-entra-client-secret',
  'vertex-service-account-json',
]);

/** Who will use a reference: without a workspace, those that an integration of the organization is open to. */
export interface MappingOwner {
  readonly organizationId: string;
  readonly workspaceId: string | null;
}

/** A row with values from references. */
interface MappedRow extends MappingOwner {
  readonly secretMappings: StoredSecretMapping[] | null;
}

/** The mappings of a row after a request, for `CredentialsService`. */
export interface ReadMappings {
  readonly secretMappings: StoredSecretMapping[] | null;
  readonly mapped: ReadonlySet<string>;
  /** The request sent them: then they may be used at another destination. */
  readonly isMappedAgain: boolean;
}

/** A destination with its mappings, as a request names it. */
export interface WantedMappings {
  readonly provider: string;
  readonly customHost: string | null;
  readonly key?: string | undefined;
  /** Left out: those of the row stay. */
  readonly mappings?: readonly SecretMappingDto[] | null | undefined;
}

/** The values of a row's mappings. */
export interface MappedValues {
  readonly key: Secret | null;
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields of virtual keys and integrations that take their values from secret references. */
@Injectable()
export class SecretMappingsService {
  constructor(
    @InjectRepository(SecretReference) private readonly references: Repository<SecretReference>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly managers: SecretManagers,
  ) {}

  /**
   * Checks the mappings of a request, and locks their references until the commit, so that none is deleted meanwhile. Throws `not_found` for
   * a reference that the workspace may not use, `invalid_request`, and `forbidden` for a custom host: whoever may not read references must
   * not send their secrets to an address of their own.
   */
  async read(
    caller: Principal,
    row: MappingOwner & { readonly secretMappings?: StoredSecretMapping[] | null },
    { provider, customHost, key, mappings }: WantedMappings,
  ): Promise<ReadMappings> {
    const isMappedAgain = mappings !== undefined;
    const secretMappings = isMappedAgain
      ? await this.stored(row, providerOf(provider), mappings ?? [])
      : (row.secretMappings ?? null);
    const mapped = mappedFields(secretMappings);
    if (key !== undefined && mapped.has(KEY))
      throw fieldError('key', 'is taken from a secret reference. Remove it from "secret_mappings" first');
    if (mapped.size > 0 && customHost !== null && !caller.scopes.has('secret_references.read'))
      throw new AppError('forbidden', { detail: CUSTOM_HOST });
    return { secretMappings, mapped, isMappedAgain };
  }

  private async stored(
    owner: MappingOwner,
    provider: Provider,
    requested: readonly SecretMappingDto[],
  ): Promise<StoredSecretMapping[] | null> {
    const read: StoredSecretMapping[] = [];
    for (const [index, mapping] of requested.entries()) {
      const place = `secret_mappings[${index}].target_field`;
      const target = targetOf(provider, mapping.target_field, place);
      if (read.some((other) => other.target_field === target))
        throw invalidField(place, 'it is mapped twice');
      const { id } = await this.usable(owner, mapping.secret_reference_id);
      const { secret_key = null, value_format = null } = mapping;
      read.push({ target_field: target, secret_reference_id: id, secret_key, value_format });
    }
    return read.length === 0 ? null : read;
  }

  /** Throws `not_found` unless this owner may use the references of another row, too. */
  async checkUsable(owner: MappingOwner, mappings: readonly StoredSecretMapping[] | null): Promise<void> {
    for (const { secret_reference_id } of mappings ?? []) await this.usable(owner, secret_reference_id);
  }

  /** The values themselves, read now. Rejects with `secret_unavailable`, `secret_unusable` and `workload_identity_refused`. */
  async valuesOf({ secretMappings, ...owner }: MappedRow): Promise<MappedValues> {
    let key: Secret | null = null;
    const fields: Record<string, string> = {};
    for (const mapping of secretMappings ?? []) {
      const reference = await this.usable(owner, mapping.secret_reference_id);
      const stored = await this.managers.read(await this.locationOf(reference));
      const part = { key: mapping.secret_key ?? reference.secretKey, format: mapping.value_format };
      const value = credentialIn({ reference: reference.slug }, stored, part);
      if (mapping.target_field === KEY) key = value;
      else fields[mapping.target_field] = value.reveal();
    }
    return { key, fields };
  }

  private async usable(
    { organizationId, workspaceId }: MappingOwner,
    named: string,
  ): Promise<SecretReference> {
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const reference = await this.references.findOne({
      where: { organizationId, ...which },
      lock: { mode: 'pessimistic_read' },
    });
    const allowed = reference?.allowedWorkspaceIds ?? null;
    // An integration of the organization may name any: each workspace that uses it is checked then.
    if (!reference || (workspaceId !== null && allowed !== null && !allowed.includes(workspaceId)))
      throw new AppError('not_found', { resource: 'secret reference' });
    return reference;
  }

  private async locationOf(row: SecretReference): Promise<SecretLocation> {
    const { id, organizationId, managerType: manager, auth, sealedAuth } = row;
    const place = { reference: row.slug, organizationId, manager, auth, path: row.secretPath };
    if (sealedAuth === null) return { ...place, secrets: {} };
    const { wrappedKey: wrapped } = await this.organizations.findOneByOrFail({ id: organizationId });
    const purpose = authPurpose({ id, organizationId, manager, auth });
    const clear = this.box.openText({ organizationId, wrapped }, purpose, sealedAuth);
    const secrets = Object.entries(JSON.parse(clear.reveal()) as Record<string, string>);
    return {
      ...place,
      secrets: Object.fromEntries(secrets.map(([name, value]) => [name, new Secret(value)])),
    };
  }
}

/** Names of fields that a secret provides. */
const mappedFields = (mappings: readonly StoredSecretMapping[] | null): ReadonlySet<string> =>
  new Set((mappings ?? []).map(({ target_field }) => target_field));

/** A field that decides where requests go must be visible to whoever sends the secret there, so it cannot come from a secret. */
function targetOf(provider: Provider, sent: string, place: string): string {
  const name = sent.slice(sent.indexOf('.') + 1).replaceAll('_', '-');
  if (sent === KEY || KEY_NAMES.has(name)) {
    if (provider.auth.id === 'none')
      throw fieldError(place, `names the key, but "${provider.id}" needs none`);
    return KEY;
  }
  if (name === WORKLOAD_IDENTITY)
    throw invalidField(place, 'the identity of the machine needs no secret; send the field itself');
  if (!provider.fields?.some((field) => field.name === name))
    throw invalidField(place, `the provider "${provider.id}" has no such field`);
  const addresses = [provider.baseUrl, provider.hostPath, ...Object.values(provider.query ?? {})];
  if (addresses.some((template) => template?.includes(`{${name}}`)))
    throw invalidField(place, 'it is a part of the address; send its value itself');
  return name;
}
