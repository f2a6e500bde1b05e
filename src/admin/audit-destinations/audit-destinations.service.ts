import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import {
  type AuditTarget,
  parseAuditTarget,
  purposeOfAuditSecret,
} from '../../common/contracts/audit-destination.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { AuditDestination } from './audit-destination.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import {
  AuditDestinationDto,
  AuditDestinationListDto,
  type CreateAuditDestinationDto,
  type UpdateAuditDestinationDto,
} from './audit-destination.dto.js';
import { X509Certificate } from 'node:crypto';
import { invalidField } from '../../common/errors/field-errors.js';

/** Each of them receives everything, and dead ones are retried indefinitely. */
const MOST_DESTINATIONS = 5;

/** Manages the destinations of an organization's audit records. */
@Injectable()
export class AuditDestinationsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(AuditDestination) private readonly auditDestinations: Repository<AuditDestination>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly egress: Egress,
    private readonly audit: AuditTrail,
  ) {}

  async create(organizationId: string, dto: CreateAuditDestinationDto): Promise<AuditDestinationDto> {
    if ((await this.auditDestinations.countBy({ organizationId })) >= MOST_DESTINATIONS)
      throw new AppError('conflict', {
        detail: `An organization has at most ${MOST_DESTINATIONS} destinations for its audit log.`,
      });
    const { url, secret } = dto;
    const caCertificate = dto.ca_certificate ?? null;
    checkedTarget(this.egress, { url, hasSecret: secret !== undefined, caCertificate });
    const id = uuidV7(Date.now());
    const headSeq = await this.headSeq(organizationId);
    const row = await this.auditDestinations.save(
      this.auditDestinations.create({
        id,
        organizationId,
        name: dto.name,
        url,
        sealedSecret: await this.sealed({ id, url, organizationId }, secret),
        caCertificate,
        isEnabled: dto.enabled ?? true,
        deliveredSeq: dto.from_the_beginning === true ? '0' : headSeq,
      }),
    );
    const shown = AuditDestinationDto.from(
      await this.auditDestinations.findOneByOrFail({ id: row.id }),
      headSeq,
    );
    this.audit.note({ targetId: id, workspaceId: null, after: shown });
    return shown;
  }

  /** Newest first. */
  async list(organizationId: string, { skip, take }: Page): Promise<AuditDestinationListDto> {
    const [rows, total] = await this.auditDestinations.findAndCount({
      where: { organizationId },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
    return AuditDestinationListDto.from(rows, total, await this.headSeq(organizationId));
  }

  async get(organizationId: string, id: string): Promise<AuditDestinationDto> {
    return this.shown(await this.find(organizationId, id));
  }

  /** Earlier failures are cleared: it is retried at once. */
  async update(
    organizationId: string,
    id: string,
    dto: UpdateAuditDestinationDto,
  ): Promise<AuditDestinationDto> {
    const row = await this.find(organizationId, id, true);
    const before = await this.shown(row);
    row.name = dto.name ?? row.name;
    row.isEnabled = dto.enabled ?? row.isEnabled;
    if (dto.ca_certificate !== undefined) row.caCertificate = dto.ca_certificate;
    await this.changeTarget(row, dto);
    Object.assign(row, { nextTryAt: new Date() });
    const after = await this.shown(await this.auditDestinations.save(row));
    this.audit.note({ targetId: id, workspaceId: null, before, after });
    return after;
  }

  async remove(organizationId: string, id: string): Promise<void> {
    const row = await this.find(organizationId, id, true);
    this.audit.note({ targetId: id, workspaceId: null, before: await this.shown(row) });
    await this.auditDestinations.delete({ id, organizationId });
  }

  /** A secret is only sent to the address that it was entered for. */
  private async changeTarget(
    row: AuditDestination,
    { url, secret }: UpdateAuditDestinationDto,
  ): Promise<void> {
    const target = url ?? row.url;
    const keepsSecret = row.sealedSecret !== null && placeOf(target) === placeOf(row.url);
    const hasSecret = secret !== undefined || keepsSecret;
    checkedTarget(this.egress, { url: target, hasSecret, caCertificate: row.caCertificate });
    row.url = target;
    if (!keepsSecret || secret !== undefined) row.sealedSecret = await this.sealed(row, secret);
  }

  private async sealed(
    place: { readonly id: string; readonly url: string; readonly organizationId: string },
    secret: string | undefined,
  ): Promise<Buffer | null> {
    if (secret === undefined) return null;
    const { organizationId } = place;
    const { wrappedKey: wrapped } = await this.organizations.findOneByOrFail({ id: organizationId });
    return this.box.sealText({ organizationId, wrapped }, purposeOfAuditSecret(place), new Secret(secret));
  }

  private async shown(row: AuditDestination): Promise<AuditDestinationDto> {
    return AuditDestinationDto.from(row, await this.headSeq(row.organizationId));
  }

  private async headSeq(organizationId: string): Promise<string> {
    const [head] = await this.unitOfWork.manager.query<{ seq: string }[]>(
      'SELECT seq FROM audit_heads WHERE organization_id = $1',
      [organizationId],
    );
    return head?.seq ?? '0';
  }

  private async find(organizationId: string, id: string, lock = false): Promise<AuditDestination> {
    const row = isUuid(id)
      ? await this.auditDestinations.findOne({
          where: { id, organizationId },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!row) throw new AppError('not_found', { resource: 'destination of the audit log' });
    return row;
  }
}

/** The host and port of a URL. */
function placeOf(url: string): string {
  const target = parseAuditTarget(url);
  return target.type === 'webhook' ? target.url.origin : url;
}

/** A destination to save. `hasSecret`: whether a secret is stored or was sent. */
interface WantedTarget {
  readonly url: string;
  readonly hasSecret: boolean;
  readonly caCertificate: string | null;
}

/** Checks that the parts of a destination match, and that its address is not blocked. */
function checkedTarget(egress: Egress, { url, hasSecret, caCertificate }: WantedTarget): AuditTarget {
  const target = parseAuditTarget(url);
  if (target.type === 'webhook') egress.checkDestination(target.url);
  else egress.checkEndpoint(target.endpoint);
  if (target.type === 'webhook' && !hasSecret)
    throw new AppError('credential_required', {
      detail: 'A webhook needs the secret that its calls are signed with. Send it in the field "secret".',
    });
  if (target.type === 'syslog' && hasSecret)
    throw refused('secret', 'syslog is not signed; only a webhook has a secret');
  if (caCertificate !== null) checkCertificate(target, caCertificate);
  return target;
}

function checkCertificate(target: AuditTarget, caCertificate: string): void {
  if (target.type !== 'syslog' || target.transport !== 'tls')
    throw refused('ca_certificate', 'only a destination at tls:// has one');
  try {
    new X509Certificate(caCertificate);
  } catch {
    throw refused('ca_certificate', 'it must be a certificate in PEM');
  }
}

const refused = (field: string, rule: string): AppError => invalidField(field, rule);
