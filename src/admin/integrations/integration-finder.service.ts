import { Injectable } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import type { Scope } from '../../auth/permissions/scopes.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { Integration } from './integration.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

type Verb = 'create' | 'read' | 'update' | 'delete';

const linkedWhere = (condition: string): string => `ANY (ARRAY(
  SELECT link.integration_id FROM integration_workspaces link WHERE link.workspace_id = :workspaceId AND ${condition}))`;

/**
 * The workspace's own, and those of the organization that it was given access to. What is said of one workspace wins over what holds for all.
 * Each part has an index; with EXISTS instead of the lists of ids, all integrations of the organization would be read.
 */
export const USABLE = `(integration.workspace_id = :workspaceId OR (integration.workspace_id IS NULL AND (
  integration.id = ${linkedWhere('link.is_enabled')}
  OR (integration.is_open_to_all_workspaces AND NOT integration.id = ${linkedWhere('NOT link.is_enabled')}))))`;

/** Integrations of the organization and those of a workspace are opened by different scopes. */
export function integrationScope(workspaceId: string | null, verb: Verb): Scope {
  return workspaceId === null ? `organisation_integrations.${verb}` : `workspace_integrations.${verb}`;
}

/** Finds integrations within the reach of the caller. */
@Injectable()
export class IntegrationFinder {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** What a caller may see: every integration of its organization, or those that its workspace may use. */
  visible({ organizationId, workspaceId }: Reach): SelectQueryBuilder<Integration> {
    const query = this.unitOfWork
      .repository(Integration)
      .createQueryBuilder('integration')
      .where('integration.organization_id = :organizationId', { organizationId });
    return workspaceId === undefined ? query : query.andWhere(USABLE, { workspaceId });
  }

  /** By id or slug. Refuses with `not_found` what is out of reach, and with `forbidden` what the caller lacks the scope for. */
  async find(caller: Principal, named: string, verb: Verb): Promise<Integration> {
    const integration = await this.named(reachOf(caller), named, verb !== 'read');
    requireScope(caller, integrationScope(integration.workspaceId, verb));
    return integration;
  }

  /** One that this workspace may use. */
  usableBy(tenant: Tenant, named: string): Promise<Integration> {
    return this.named(tenant, named, false);
  }

  private async named(reach: Reach, named: string, lock: boolean): Promise<Integration> {
    const query = this.visible(reach);
    if (isUuid(named)) query.andWhere('integration.id = :named', { named: named.toLowerCase() });
    else query.andWhere('integration.slug = :named', { named });
    if (lock) query.setLock('pessimistic_write');
    const integration = isUuid(named) || isSlug(named) ? await query.getOne() : null;
    if (!integration) throw new AppError('not_found', { resource: 'integration' });
    return integration;
  }
}
