import { Injectable } from '@nestjs/common';
import type { ApiKey } from './api-key.entity.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { UsableConfig } from '../configs/usable-config.service.js';
import type { UpdateApiKeyDto } from './api-key-bodies.dto.js';

type KeyDefaults = Pick<UpdateApiKeyDto, 'defaults' | 'alert_emails'>;
type DefaultColumns = Partial<
  Pick<ApiKey, 'defaultMetadata' | 'defaultConfigId' | 'allowConfigOverride' | 'alertEmails'>
>;

/** What a key sets for its requests, and the addresses that are notified about its budgets. */
@Injectable()
export class KeyDefaultsService {
  constructor(private readonly configs: UsableConfig) {}

  /** The given columns; others stay unchanged. Refuses with `invalid_request` a config that the key may not use. */
  async columnsOf(
    { workspaceId }: Pick<ApiKey, 'workspaceId'>,
    organizationId: string,
    { defaults = {}, alert_emails: emails }: KeyDefaults,
  ): Promise<DefaultColumns> {
    const { metadata, config_id: named, allow_config_override: allowsOverride } = defaults;
    const reach = workspaceId === null ? { organizationId } : { organizationId, workspaceId };
    const columns = {
      defaultMetadata: metadata,
      defaultConfigId: named && (await this.configs.find(reach, named, 'defaults.config_id')).id,
      allowConfigOverride: allowsOverride,
      alertEmails: emails && [...new Set(emails.map(normalized))],
    };
    return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  }
}

/** Validated before, so a normalized form exists. */
const normalized = (email: string): string => normalizeEmail(email) ?? email;
