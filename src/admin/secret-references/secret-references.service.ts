import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { AppError } from '../../common/errors/app-error.js';
import { fieldError, invalidField } from '../../common/errors/field-errors.js';
import type { Page } from '../../common/http/page.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { Secret } from '../../common/settings/secret.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Egress } from '../../egress/egress.js';
import { authPurpose } from '../../external-credentials/secret-managers/auth-purpose.js';
import { checkMachineMode } from '../../external-credentials/secret-managers/check-machine-mode.js';
import { MANAGERS, type ManagerType } from '../../external-credentials/secret-managers/manager-table.js';
import { WorkloadIdentity } from '../../external-credentials/workload-identity/workload-identity.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { claimSlug } from '../slugs/claim-slug.js';
import { unknownSlug } from '../slugs/unknown-slug.js';
import { Organization } from '../tenancy/organization.entity.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { readAuthConfig } from './read-auth-config.js';
import type { ListSecretReferencesQuery } from './secret-reference-query.dto.js';
import {
  type CreateSecretReferenceDto,
  SecretReferenceDetailDto,
  type UpdateSecretReferenceDto,
} from './secret-reference.dto.js';
import { SecretReference } from './secret-reference.entity.js';

/** Virtual keys and integrations that take a field from the reference $2. */
const USERS = `
  SELECT CASE WHEN integration THEN 'integration ' ELSE 'virtual key ' END || slug AS named FROM (
    SELECT false AS integration, slug FROM virtual_keys
    WHERE organization_id = $1 AND secret_mappings @> jsonb_build_array(jsonb_build_object('secret_reference_id', $2::text))
    UNION ALL
    SELECT true, slug FROM integrations
    WHERE organization_id = $1 AND secret_mappings @> jsonb_build_array(jsonb_build_object('secret_reference_id', $2::text))
  ) AS users ORDER BY named LIMIT 10`;

/** References to secrets in secret managers. Nothing here reads a secret. */
@Injectable()
export class SecretReferencesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(SecretReference) private readonly references: Repository<SecretReference>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly workspaces: WorkspaceFinder,
    private readonly box: SecretBox,
    private readonly egress: Egress,
    private readonly identity: WorkloadIdentity,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, dto: CreateSecretReferenceDto): Promise<SecretReference> {
    const { organizationId } = caller;
    if (dto.organisation_id !== undefined && dto.organisation_id.toLowerCase() !== organizationId)
      throw fieldError('organisation_id', "is not the caller's organization");
    const id = uuidV7(Date.now());
    const managerType = dto.manager_type;
    checkPath(managerType, dto.secret_path);
    const row = {
      id,
      organizationId,
      name: dto.name,
      description: dto.description ?? null,
      managerType,
      ...(await this.sealedAuth({ id, organizationId, managerType }, dto.auth_config)),
      secretPath: dto.secret_path,
      secretKey: dto.secret_key ?? null,
      allowedWorkspaceIds: (await this.allowed(caller, dto)) ?? null,
      tags: dto.tags ?? null,
      createdBy: caller.userId ?? caller.apiKeyId,
    };
    await claimSlug(
      { chosen: dto.slug, name: dto.name, otherwise: 'secret' },
      async (slug) => (await this.unitOfWork.insertUnlessTaken(SecretReference, { ...row, slug })) > 0,
    );
    const saved = await this.references.findOneByOrFail({ id });
    this.note(saved, { after: SecretReferenceDetailDto.from(saved) });
    return saved;
  }

  /** Newest first. */
  list(
    organizationId: string,
    { manager_type, tags, search }: ListSecretReferencesQuery,
    { skip, take }: Page,
  ): Promise<[SecretReference[], number]> {
    const query = this.references
      .createQueryBuilder('reference')
      .where('reference.organization_id = :organizationId', { organizationId });
    if (manager_type) query.andWhere('reference.manager_type = :manager_type', { manager_type });
    if (tags) query.andWhere('reference.tags @> :tags', { tags: JSON.stringify(tags) });
    if (search !== undefined)
      query.andWhere(
        '(position(lower(:search) IN lower(reference.name)) > 0 OR position(lower(:search) IN reference.slug) > 0)',
        {
          search,
        },
      );
    return query
      .orderBy('reference.createdAt', 'DESC')
      .addOrderBy('reference.id', 'DESC')
      .skip(skip)
      .take(take)
      .getManyAndCount();
  }

  /** By id or slug. */
  get(organizationId: string, named: string): Promise<SecretReference> {
    return this.find(organizationId, named);
  }

  async update(caller: Principal, named: string, dto: UpdateSecretReferenceDto): Promise<void> {
    const row = await this.find(caller.organizationId, named, true);
    const before = SecretReferenceDetailDto.from(row);
    if (dto.name !== undefined) row.name = dto.name;
    if (dto.description !== undefined) row.description = dto.description;
    if (dto.secret_key !== undefined) row.secretKey = dto.secret_key;
    if (dto.tags !== undefined) row.tags = dto.tags && { ...dto.tags };
    if (dto.secret_path !== undefined) {
      checkPath(row.managerType, dto.secret_path);
      row.secretPath = dto.secret_path;
    }
    if (dto.auth_config !== undefined) Object.assign(row, await this.sealedAuth(row, dto.auth_config));
    const allowed = await this.allowed(caller, dto);
    if (allowed !== undefined) row.allowedWorkspaceIds = allowed;
    const saved = await this.references.save(row);
    this.note(saved, { before, after: SecretReferenceDetailDto.from(saved) });
    await this.announce(saved);
  }

  /** Refuses with `conflict` while virtual keys or integrations use it. One that is being saved holds a lock of the row. */
  async remove(organizationId: string, named: string): Promise<void> {
    const row = await this.find(organizationId, named, true);
    const users: { named: string }[] = await this.unitOfWork.manager.query(USERS, [organizationId, row.id]);
    if (users.length > 0)
      throw new AppError('conflict', {
        detail: `The secret reference is used by ${users.map((user) => user.named).join(', ')}. Remove it there first.`,
      });
    this.note(row, { before: SecretReferenceDetailDto.from(row) });
    await this.references.delete({ id: row.id, organizationId });
    await this.announce(row);
  }

  private async sealedAuth(
    { id, organizationId, managerType }: Pick<SecretReference, 'id' | 'organizationId' | 'managerType'>,
    config: Readonly<Record<string, unknown>>,
  ): Promise<Pick<SecretReference, 'auth' | 'sealedAuth'>> {
    const { mode, auth, secrets } = readAuthConfig(managerType, config, this.egress);
    checkMachineMode(this.identity, organizationId, { mode, auth });
    if (Object.keys(secrets).length === 0) return { auth, sealedAuth: null };
    const { wrappedKey: wrapped } = await this.organizations.findOneByOrFail({ id: organizationId });
    const sealedAuth = this.box.sealText(
      { organizationId, wrapped },
      authPurpose({ id, organizationId, manager: managerType, auth }),
      new Secret(JSON.stringify(secrets)),
    );
    return { auth, sealedAuth };
  }

  /** Ids of the workspaces that may use it, null for all, or undefined if the request does not say. */
  private async allowed(
    caller: Principal,
    { allow_all_workspaces: all, allowed_workspaces: named }: UpdateSecretReferenceDto,
  ): Promise<string[] | null | undefined> {
    if (all === true && named !== undefined)
      throw fieldError('allowed_workspaces', 'cannot be combined with "allow_all_workspaces": true');
    if (all === true) return null;
    if (named === undefined) {
      if (all === undefined) return undefined;
      throw fieldError('allowed_workspaces', 'is missing. Send it with "allow_all_workspaces": false');
    }
    const ids: string[] = [];
    for (const one of named) ids.push((await this.workspaces.get(caller, one)).id);
    return [...new Set(ids)];
  }

  private async find(organizationId: string, named: string, lock = false): Promise<SecretReference> {
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const row =
      isUuid(named) || isSlug(named)
        ? await this.references.findOne({
            where: { organizationId, ...which },
            ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
          })
        : null;
    if (!row)
      throw await unknownSlug({ resource: 'secret reference', named }, this.references, { organizationId });
    return row;
  }

  private note({ id }: SecretReference, shown: object): void {
    this.audit.note({ targetId: id, workspaceId: null, ...shown });
  }

  private announce({ id }: SecretReference): Promise<void> {
    return this.changes.publish({ resource: 'secret_reference', id });
  }
}

function checkPath(type: ManagerType, path: string): void {
  const { pattern, rule, example } = MANAGERS[type].path;
  if (!pattern.test(path)) throw invalidField('secret_path', `${rule}, such as ${example}`);
}
