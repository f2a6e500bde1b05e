import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { VirtualKey } from './virtual-key.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isSlug } from '../../common/http/validators.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { claimSlug } from '../slugs/claim-slug.js';
import { CredentialsService } from '../credentials/credentials.service.js';
import { checkNoConfigNames } from '../credentials/naming-configs.js';
import { pricesOf } from '../dto-fields/model-pricing.js';
import type {
  CreateVirtualKeyDto,
  DuplicateVirtualKeyDto,
  UpdateVirtualKeyDto,
} from './virtual-key-bodies.dto.js';
import { VirtualKeyDto } from './virtual-key.dto.js';
import { SecretMappingsService } from '../secret-references/secret-mappings.service.js';
import { LimitsService } from '../limits/limits.service.js';
import { unknownSlug } from '../slugs/unknown-slug.js';

@Injectable()
export class VirtualKeysService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    private readonly credentials: CredentialsService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly limits: LimitsService,
    private readonly mappings: SecretMappingsService,
  ) {}

  async create(caller: Principal, tenant: Tenant, dto: CreateVirtualKeyDto): Promise<VirtualKey> {
    const { provider, customHost, fields, secretMappings } = await this.readDestination(caller, tenant, dto);
    const place = { ...tenant, id: uuidV7(Date.now()), providerId: provider.id, customHost };
    return this.add(
      {
        ...place,
        name: dto.name,
        note: dto.note ?? null,
        fields,
        sealedCredentials: await this.credentials.seal(place, dto.key),
        secretMappings,
        prices: pricesOf(dto.model_pricing ?? null),
        onClientDisconnect: dto.on_client_disconnect ?? null,
        unsupportedParameters: dto.unsupported_parameters ?? null,
        expiresAt: momentOf(dto.expires_at ?? null),
        rateLimits: this.limits.rates(dto.rate_limits ?? null, null),
        usageLimits: this.limits.budgets(dto.usage_limits ?? null, null),
      },
      dto.slug,
    );
  }

  /** Newest first. */
  list(reach: Reach, { skip, take }: Page): Promise<[VirtualKey[], number]> {
    return this.virtualKeys.findAndCount({
      where: { ...reach, integrationId: IsNull() },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  async get(reach: Reach, slug: string): Promise<VirtualKey> {
    return this.find(reach, slug);
  }

  async update(caller: Principal, slug: string, dto: UpdateVirtualKeyDto): Promise<void> {
    const key = await this.find(reachOf(caller), slug, true);
    const before = VirtualKeyDto.from(key);
    if (dto.name !== undefined) key.name = dto.name;
    if (dto.note !== undefined) key.note = dto.note;
    if (dto.expires_at !== undefined) key.expiresAt = momentOf(dto.expires_at);
    if (dto.model_pricing !== undefined) key.prices = pricesOf(dto.model_pricing);
    if (dto.on_client_disconnect !== undefined) key.onClientDisconnect = dto.on_client_disconnect;
    if (dto.unsupported_parameters !== undefined) key.unsupportedParameters = dto.unsupported_parameters;
    await this.changeLimits(key, dto);
    if (namesDestination(dto)) await this.changeDestination(caller, key, dto);
    const saved = await this.virtualKeys.save(key);
    this.noteChange(saved, before, VirtualKeyDto.from(saved));
    await this.announce(saved);
  }

  /**
   * A second key to the same destination, with a separately sealed credential and separate limits; in the same workspace unless another is
   * given.
   */
  async copy(reach: Reach, slug: string, options: DuplicateVirtualKeyDto, to?: Tenant): Promise<VirtualKey> {
    const key = await this.find(reach, slug, true);
    const { organizationId, providerId, customHost, note, fields, prices, expiresAt } = key;
    const { onClientDisconnect, unsupportedParameters } = key;
    const workspaceId = to ? to.workspaceId : key.workspaceId;
    const place = { organizationId, workspaceId, id: uuidV7(Date.now()), providerId, customHost };
    const { secretMappings } = key;
    await this.mappings.checkUsable(place, secretMappings);
    const sealedCredentials = await this.credentials.sealAgain(key, place);
    const name = options.name ?? key.name;
    return this.add(
      {
        ...place,
        name,
        note,
        fields,
        prices,
        expiresAt,
        onClientDisconnect,
        unsupportedParameters,
        ...this.limits.copied(key),
        sealedCredentials,
        secretMappings,
      },
      options.slug,
    );
  }

  async remove(reach: Reach, slug: string): Promise<void> {
    const key = await this.find(reach, slug, true);
    await checkNoConfigNames(this.unitOfWork.manager, key, 'virtual key');
    this.noteChange(key, VirtualKeyDto.from(key));
    await this.virtualKeys.delete({ id: key.id });
    await this.announce(key);
  }

  private async readDestination(caller: Principal, tenant: Tenant, dto: CreateVirtualKeyDto) {
    const address = { provider: dto.provider, customHost: dto.custom_host ?? null };
    const { secretMappings, mapped } = await this.mappings.read(caller, tenant, {
      ...address,
      key: dto.key,
      mappings: dto.secret_mappings ?? null,
    });
    const destination = this.credentials.read({ ...address, fields: fieldsOf(dto) ?? {}, mapped }, dto.key);
    this.credentials.checkIdentity(tenant.organizationId, destination);
    return { ...destination, secretMappings };
  }

  private async changeLimits(key: VirtualKey, dto: UpdateVirtualKeyDto): Promise<void> {
    const { rate_limits, usage_limits, reset_usage } = dto;
    if (rate_limits !== undefined) key.rateLimits = this.limits.rates(rate_limits, key.rateLimits);
    if (usage_limits !== undefined) key.usageLimits = this.limits.budgets(usage_limits, key.usageLimits);
    if (reset_usage) key.rateLimits = await this.limits.reset(key);
  }

  /** Adds a row and announces it. */
  private async add(
    row: Tenant & Partial<VirtualKey> & { readonly name: string },
    chosen: string | undefined,
  ) {
    const slug = await claimSlug(
      { chosen, name: row.name, otherwise: 'virtual-key' },
      async (free) => (await this.unitOfWork.insertUnlessTaken(VirtualKey, { ...row, slug: free })) > 0,
    );
    const key = await this.find(row, slug);
    this.noteChange(key, undefined, VirtualKeyDto.from(key));
    await this.announce(key);
    return key;
  }

  private async changeDestination(
    caller: Principal,
    key: VirtualKey,
    dto: UpdateVirtualKeyDto,
  ): Promise<void> {
    const mapped = await this.mappings.read(caller, key, {
      provider: dto.provider ?? key.providerId,
      customHost: dto.custom_host === undefined ? key.customHost : dto.custom_host,
      key: dto.key,
      mappings: dto.secret_mappings,
    });
    const destination = this.credentials.change(key, {
      ...(dto.provider === undefined ? {} : { provider: dto.provider }),
      ...(dto.custom_host === undefined ? {} : { customHost: dto.custom_host }),
      ...changedFields(key, dto),
      ...mapped,
      key: dto.key,
    });
    this.credentials.checkIdentity(key.organizationId, destination);
    const { provider, customHost, fields, isResealed } = destination;
    const { secretMappings } = mapped;
    Object.assign(key, { providerId: provider.id, customHost, fields, secretMappings });
    if (isResealed) key.sealedCredentials = await this.credentials.seal(key, dto.key);
  }

  private async find(
    { organizationId, workspaceId }: Reach,
    slug: string,
    lock = false,
  ): Promise<VirtualKey> {
    const reach = {
      organizationId,
      ...(workspaceId === undefined ? {} : { workspaceId }),
      integrationId: IsNull(),
    };
    const key = isSlug(slug)
      ? await this.virtualKeys.findOne({
          where: { ...reach, slug },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    // Another tenant's key is "not found", not "forbidden": a 403 would reveal that it exists.
    if (!key) throw await unknownSlug({ resource: 'virtual key', named: slug }, this.virtualKeys, reach);
    return key;
  }

  private noteChange(key: VirtualKey, before?: VirtualKeyDto, after?: VirtualKeyDto): void {
    const shown = { ...(before ? { before } : {}), ...(after ? { after } : {}) };
    this.audit.note({ targetId: key.id, workspaceId: key.workspaceId, ...shown });
  }

  private announce({ id }: VirtualKey): Promise<void> {
    return this.changes.publish({ resource: 'virtual_key', id });
  }
}

/** A change of the name alone does not check the rest again: a key can be renamed even if its address was blocked since. */
function namesDestination(dto: UpdateVirtualKeyDto): boolean {
  return [dto.provider, dto.custom_host, dto.key, dto.secret_mappings, fieldsOf(dto)].some(
    (value) => value !== undefined,
  );
}

const momentOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

type AccountFieldChanges = Readonly<Record<string, unknown>>;

/** Fields that the compatible API names after Azure's, and its SDK likewise in snake_case. */
function compatibleFieldsOf(dto: UpdateVirtualKeyDto): AccountFieldChanges {
  const [deployment] = dto.deploymentConfig ?? dto.deployment_config ?? [];
  const named = [
    ['azure-api-version', dto.apiVersion ?? dto.api_version ?? deployment?.apiVersion],
    ['azure-resource-name', dto.resourceName ?? dto.resource_name],
    ['azure-deployment-id', dto.deploymentName ?? dto.deployment_name ?? deployment?.deploymentName],
  ] as const;
  return Object.fromEntries(named.filter(([, value]) => value != null));
}

/** The fields of a request, under either kind of name; undefined without any. */
function fieldsOf(dto: UpdateVirtualKeyDto): AccountFieldChanges | undefined {
  const compatible = compatibleFieldsOf(dto);
  return dto.fields === undefined && Object.keys(compatible).length === 0
    ? undefined
    : { ...dto.fields, ...compatible };
}

/** The fields after a change: `fields` replaces all of them, a compatible name only its own. */
function changedFields(key: VirtualKey, dto: UpdateVirtualKeyDto): { readonly fields?: AccountFieldChanges } {
  const fields = fieldsOf(dto);
  if (fields === undefined) return {};
  return { fields: dto.fields === undefined ? { ...key.fields, ...fields } : fields };
}
