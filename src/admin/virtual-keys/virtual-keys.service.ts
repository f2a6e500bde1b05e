import { Injectable } from '@nestjs/common';
import { type Reach, type Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { VirtualKey } from '../../common/database/entities/virtual-key.entity.js';
import type { Page } from '../../common/database/page.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { Egress } from '../../common/egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { slugOfName, withSuffix } from '../../common/ids/slug-of-name.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { CredentialSealer } from './credential-sealer.js';
import { checkSecret, readDestination } from './destination-of-key.js';
import { type CreateVirtualKeyDto, type UpdateVirtualKeyDto, VirtualKeyDto } from './virtual-key.dto.js';

@Injectable()
export class VirtualKeysService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly sealer: CredentialSealer,
    private readonly egress: Egress,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async create(tenant: Tenant, dto: CreateVirtualKeyDto): Promise<VirtualKey> {
    const { provider, customHost, fields } = readDestination(
      { provider: dto.provider, customHost: dto.custom_host ?? null, fields: dto.fields ?? {} },
      this.egress,
    );
    checkSecret(dto.key, provider, `The provider "${provider.id}" needs its own key in the field "key".`);
    const place = { ...tenant, id: uuidV7(Date.now()), providerId: provider.id, customHost };
    const key = await this.insert(
      {
        ...place,
        name: dto.name,
        note: dto.note ?? null,
        fields,
        sealedCredentials: await this.sealer.seal(place, dto.key),
        expiresAt: momentOf(dto.expires_at ?? null),
      },
      dto.slug,
    );
    this.noteChange(key, undefined, VirtualKeyDto.from(key));
    await this.announce(key);
    return key;
  }

  /** Newest first. */
  list(reach: Reach, { skip, take }: Page): Promise<[VirtualKey[], number]> {
    return this.unitOfWork
      .repository(VirtualKey)
      .findAndCount({ where: { ...reach }, order: { createdAt: 'DESC', id: 'DESC' }, skip, take });
  }

  async get(reach: Reach, slug: string): Promise<VirtualKey> {
    return this.find(reach, slug);
  }

  async update(reach: Reach, slug: string, dto: UpdateVirtualKeyDto): Promise<void> {
    const key = await this.find(reach, slug, true);
    const before = VirtualKeyDto.from(key);
    if (dto.name !== undefined) key.name = dto.name;
    if (dto.note !== undefined) key.note = dto.note;
    if (dto.expires_at !== undefined) key.expiresAt = momentOf(dto.expires_at);
    if (namesDestination(dto)) await this.changeDestination(key, dto);
    const saved = await this.unitOfWork.repository(VirtualKey).save(key);
    this.noteChange(saved, before, VirtualKeyDto.from(saved));
    await this.announce(saved);
  }

  async remove(reach: Reach, slug: string): Promise<void> {
    const key = await this.find(reach, slug, true);
    this.noteChange(key, VirtualKeyDto.from(key));
    await this.unitOfWork.repository(VirtualKey).delete({ id: key.id });
    await this.announce(key);
  }

  /** Provider, host, fields and secret belong together: what is sent where. What is not named stays as it is. */
  private async changeDestination(key: VirtualKey, dto: UpdateVirtualKeyDto): Promise<void> {
    const { provider, customHost, fields } = readDestination(
      {
        provider: dto.provider ?? key.providerId,
        customHost: dto.custom_host === undefined ? key.customHost : dto.custom_host,
        fields: dto.fields ?? key.fields,
      },
      this.egress,
    );
    const isElsewhere = provider.id !== key.providerId || customHost !== key.customHost;
    if (isElsewhere || dto.key !== undefined) checkSecret(dto.key, provider, SECRET_AGAIN);
    Object.assign(key, { providerId: provider.id, customHost, fields });
    if (isElsewhere || dto.key !== undefined) key.sealedCredentials = await this.sealer.seal(key, dto.key);
  }

  /** A slug that the client chose is taken or not; one that we made of the name gets an ending when it is. */
  private async insert(row: Tenant & Partial<VirtualKey>, chosen: string | undefined): Promise<VirtualKey> {
    const wanted = chosen ?? slugOfName(row.name ?? '', 'virtual-key');
    const slugs = chosen === undefined ? [wanted, withSuffix(wanted)] : [wanted];
    for (const slug of slugs) if (await this.insertUnlessTaken({ ...row, slug })) return this.find(row, slug);
    throw new AppError('conflict', { detail: `The slug "${wanted}" is taken in this organization.` });
  }

  /** The unique index is the only judge that cannot be wrong, and this way of asking it keeps the transaction alive. */
  private async insertUnlessTaken(row: Partial<VirtualKey>): Promise<boolean> {
    const inserted = await this.unitOfWork.manager
      .createQueryBuilder()
      .insert()
      .into(VirtualKey)
      .values(row)
      .orIgnore()
      .returning('id')
      .execute();
    return (inserted.raw as readonly unknown[]).length > 0;
  }

  private async find(
    { organizationId, workspaceId }: Reach,
    slug: string,
    lock = false,
  ): Promise<VirtualKey> {
    const key = isSlug(slug)
      ? await this.unitOfWork.repository(VirtualKey).findOne({
          where: { organizationId, ...(workspaceId === undefined ? {} : { workspaceId }), slug },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    // Another tenant's key is "not found", not "forbidden": a 403 would tell that it exists.
    if (!key) throw new AppError('not_found', { resource: 'virtual key' });
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

const SECRET_AGAIN =
  'Another provider or custom host needs the provider\'s key again. Send it in the field "key".';

/** A change of the name alone does not look at the rest again: an address that was closed meanwhile may still be renamed. */
function namesDestination({ provider, custom_host, fields, key }: UpdateVirtualKeyDto): boolean {
  return [provider, custom_host, fields, key].some((given) => given !== undefined);
}

const momentOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
