import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { SWITCH_NAMES, SWITCHES } from '../../auth/permissions/switches.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { Organization } from '../tenancy/organization.entity.js';
import { alertPurpose } from '../../common/contracts/alert-purpose.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { parseDestination } from '../../common/net/destination.js';
import { Egress } from '../../egress/egress.js';
import { readRedaction } from '../../request-log/redaction/rules.js';
import { findProvider } from '../../providers/catalog/registry.js';
import { PeopleService } from '../users/people.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { OrganizationDto, type UpdateOrganizationDto } from './organization.dto.js';

@Injectable()
export class OrganizationsService {
  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly people: PeopleService,
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
    caller: Principal,
    {
      name,
      alert_webhook_url: alertUrl,
      alert_webhook_secret: alertSecret,
      ...wanted
    }: UpdateOrganizationDto,
  ): Promise<Organization> {
    const { organizationId: id } = caller;
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
    const settings = merged(
      organization.settings,
      rules === undefined ? wanted : { ...wanted, log_redaction: readRedaction(rules) },
    );
    await this.checkRights(caller, organization.settings, settings);
    organization.settings = settings;
    if (alertUrl !== undefined) organization.alertWebhookUrl = alertUrl;
    if (alertSecret !== undefined)
      organization.sealedAlertSecret = alertSecret === null ? null : this.sealed(organization, alertSecret);
    const saved = await this.organizations.save(organization);
    this.audit.note({ targetId: id, workspaceId: null, before, after: OrganizationDto.from(saved) });
    await this.changes.publish({ resource: 'organization', id });
    return saved;
  }

  /** Only owners change the switches that bind admins: an admin must not lift a restriction of their own. */
  private async checkRights(caller: Principal, before: StoredSettings, after: StoredSettings): Promise<void> {
    const [old, update] = [before.security_settings, after.security_settings];
    if (changesAdmins(old ?? null, update ?? null))
      await this.people.owner(caller, 'only an owner can change what admins of the organization may do');
  }

  private sealed({ id: organizationId, wrappedKey: wrapped }: Organization, secret: string): Buffer {
    return this.box.sealText({ organizationId, wrapped }, alertPurpose(organizationId), new Secret(secret));
  }
}

/** Whether a switch that binds admins of the organization changes its position. */
function changesAdmins(before: PolicyFlags | null, after: PolicyFlags | null): boolean {
  return SWITCH_NAMES.some((name) => {
    const { role, usual } = SWITCHES[name];
    return role === 'organization_admin' && (before?.[name] ?? usual) !== (after?.[name] ?? usual);
  });
}

type StoredSettings = Organization['settings'];
type OrganizationSettingsGiven = Omit<
  UpdateOrganizationDto,
  'name' | 'alert_webhook_url' | 'alert_webhook_secret'
>;

/** Null restores the default, so it is not stored; omitted switches stay unchanged. */
function merged(
  stored: StoredSettings,
  { security_settings, ...update }: Partial<OrganizationSettingsGiven>,
): StoredSettings {
  const switches = security_settings && { ...stored.security_settings, ...security_settings };
  const given = Object.entries({ ...update, security_settings: switches }).filter(
    ([, value]) => value !== undefined,
  );
  const all = { ...stored, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
