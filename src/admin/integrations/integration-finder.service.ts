import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { SelectQueryBuilder, Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import type { Scope } from '../../auth/scopes.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { Integration } from './integration.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

type Verb = 'create' | 'read' | 'update' | 'delete';

const linkedWhere = (condition: string): string => `ANY (ARRAY(
  SELECT link.integration_id FROM integration_workspaces link WHERE link.workspace_id = :workspaceId AND ${condition}))`;

/**
 * The workspace's own integrations, and those of the organization that it can use. A workspace's own setting overrides the general one.
 * Each part has an index; with EXISTS instead of lists of ids, all integrations of the organization would be read.
 */
export const USABLE = `(integration.workspace_id = :workspaceId OR (integration.workspace_id IS NULL AND (
  integration.id = ${linkedWhere('link.is_enabled')}
  OR (integration.is_open_to_all_workspaces AND NOT integration.id = ${linkedWhere('NOT link.is_enabled')}))))`;

/** Integrations of the organization and of workspaces have different scopes. */
export function integrationScope(workspaceId: string | null, verb: Verb): Scope {
  return workspaceId === null ? `organisation_integrations.${verb}` : `workspace_integrations.${verb}`;
}

/** Finds integrations that the caller can access. */
@Injectable()
export class IntegrationFinder {
  constructor(@InjectRepository(Integration) private readonly integrations: Repository<Integration>) {}

  /** The integrations visible to a caller: all of its organization, or those that its workspace can use. */
  visible({ organizationId, workspaceId }: Reach): SelectQueryBuilder<Integration> {
    const query = this.integrations
      .createQueryBuilder('integration')
      .where('integration.organization_id = :organizationId', { organizationId });
    return workspaceId === undefined ? query : query.andWhere(USABLE, { workspaceId });
  }

  /** By id or slug. Refuses with `not_found` what the caller cannot access, and with `forbidden` without the scope. */
  async find(caller: Principal, named: string, verb: Verb): Promise<Integration> {
    const integration = await this.named(reachOf(caller), named, verb !== 'read');
    requireScope(caller, integrationScope(integration.workspaceId, verb));
    return integration;
  }

  /** An integration that this workspace can use. */
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
