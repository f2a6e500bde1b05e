import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Tenant } from '../../auth/tenant.js';
import type { WorkspaceDefaults } from '../../common/contracts/workspace-defaults.js';
import { Config } from '../../common/database/entities/config.entity.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';

/** Says whether what a workspace gives all of its requests is there. */
@Injectable()
export class WorkspaceDefaultsChecker {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly guardrails: GuardrailReferences,
  ) {}

  /** Refuses with `invalid_request`, which names the place of what is not there. */
  async check(tenant: Tenant, defaults: WorkspaceDefaults | undefined): Promise<void> {
    if (!defaults) return;
    await this.guardrails.check(tenant, defaults, 'defaults.');
    const { user_api_key_config: named } = defaults;
    if (named != null) await this.checkConfig(tenant, named);
  }

  /** One that is there stays until the end of the transaction. */
  private async checkConfig({ organizationId, workspaceId }: Tenant, named: string): Promise<void> {
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const config =
      isUuid(named) || isSlug(named)
        ? await this.unitOfWork.repository(Config).findOne({
            where: [IsNull(), workspaceId].map((place) => ({
              ...{ organizationId, workspaceId: place, status: 'active' as const },
              ...which,
            })),
            lock: { mode: 'pessimistic_read' },
          })
        : null;
    if (!config)
      throw new AppError('invalid_request', {
        detail: 'No config that may be used here is named by defaults.user_api_key_config.',
      });
  }
}
