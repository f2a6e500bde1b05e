import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ChangePublisher } from '../../common/changes/change.js';
import { Organization } from '../tenancy/organization.entity.js';
import { alertPurpose } from '../../common/contracts/alert-purpose.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { parseDestination } from '../../common/net/destination.js';
import { Egress } from '../../egress/egress.js';
import { readRedaction } from '../../request-log/redaction/rules.js';
import { findProvider } from '../../providers/registry.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { OrganizationDto, type UpdateOrganizationDto } from './organization.dto.js';

@Injectable()
export class OrganizationsService {
  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly guardrails: GuardrailReferences,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly egress: Egress,
  ) {}

  get(id: string): Promise<Organization> {
    return this.organizations.findOneByOrFail({ id });
  }

  async update(
    id: string,
    {
      name,
      alert_webhook_url: alertUrl,
      alert_webhook_secret: alertSecret,
      ...wanted
    }: UpdateOrganizationDto,
  ): Promise<Organization> {
    if (alertUrl) this.egress.checkDestination(parseDestination(alertUrl));
    for (const provider of wanted.allowed_providers ?? []) findProvider(provider);
    await this.guardrails.check({ organizationId: id, workspaceId: null }, wanted, '');
    const organization = await this.organizations.findOneOrFail({
      where: { id },
      // A stronger lock would block every insert of a row that refers to it, including every audit record.
      lock: { mode: 'for_no_key_update' },
    });
    const before = OrganizationDto.from(organization);
    if (name !== undefined) organization.name = name;
    const { log_redaction: rules } = wanted;
    organization.settings = merged(
      organization.settings,
      rules === undefined ? wanted : { ...wanted, log_redaction: readRedaction(rules) },
    );
    if (alertUrl !== undefined) organization.alertWebhookUrl = alertUrl;
    if (alertSecret !== undefined)
      organization.sealedAlertSecret = alertSecret === null ? null : this.sealed(organization, alertSecret);
    const saved = await this.organizations.save(organization);
    this.audit.note({ targetId: id, workspaceId: null, before, after: OrganizationDto.from(saved) });
    await this.changes.publish({ resource: 'organization', id });
    return saved;
  }

  private sealed({ id: organizationId, wrappedKey: wrapped }: Organization, secret: string): Buffer {
    return this.box.sealText({ organizationId, wrapped }, alertPurpose(organizationId), new Secret(secret));
  }
}

type StoredSettings = Organization['settings'];
type OrganizationSettingsGiven = Omit<
  UpdateOrganizationDto,
  'name' | 'alert_webhook_url' | 'alert_webhook_secret'
>;

/** Null restores the default, so it is not stored; omitted switches stay unchanged. */
function merged(
  stored: StoredSettings,
  { security_settings, ...wanted }: Partial<OrganizationSettingsGiven>,
): StoredSettings {
  const switches = security_settings && { ...stored.security_settings, ...security_settings };
  const given = Object.entries({ ...wanted, security_settings: switches }).filter(
    ([, value]) => value !== undefined,
  );
  const all = { ...stored, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
