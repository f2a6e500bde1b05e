import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Organization } from '../tenancy/organization.entity.js';
import { AppError } from '../../common/errors/app-error.js';

/** The fields that an organization excludes from exports. Checked when an export is created, changed and started. */
@Injectable()
export class ExportRestrictions {
  constructor(@InjectRepository(Organization) private readonly organizations: Repository<Organization>) {}

  async deniedFields(organizationId: string): Promise<readonly string[]> {
    const { settings } = await this.organizations.findOneByOrFail({ id: organizationId });
    return settings.export_settings?.deniedFields ?? [];
  }

  async check(organizationId: string, fields: readonly string[]): Promise<void> {
    const denied = new Set(await this.deniedFields(organizationId));
    const deniedFields = fields.filter((name) => denied.has(name));
    if (deniedFields.length > 0)
      throw new AppError('forbidden', {
        detail: `the organization does not allow exports of the fields ${deniedFields.map((name) => `"${name}"`).join(', ')}`,
      });
  }
}
