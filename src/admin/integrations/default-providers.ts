import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Integration } from './integration.entity.js';
import { WorkspaceProvider } from './workspace-provider.entity.js';
import { slugTaken } from '../slugs/claim-slug.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { withSuffix } from '../../common/ids/slug-of-name.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

export interface GrantedWorkspace {
  readonly id: string;
  readonly slug: string;
}

const LONGEST_BASE = 48;
/** A PostgreSQL statement can have 65,535 parameters. */
const ROWS_AT_ONCE = 1_000;

/**
 * Creates an integration's providers in workspaces that have none. The caller holds the lock of the integration's row. In one workspace the
 * provider gets the integration's slug, or `chosen`; in several, the workspace's slug is appended.
 */
@Injectable()
export class DefaultProviders {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(WorkspaceProvider) private readonly workspaceProviders: Repository<WorkspaceProvider>,
  ) {}

  /** Refuses with `conflict` when the chosen slug is taken. */
  async make(
    integration: Integration,
    workspaces: readonly GrantedWorkspace[],
    chosen?: string,
  ): Promise<void> {
    const lacking = await this.withoutProvider(integration, workspaces);
    const base = chosen ?? integration.slug;
    const isAlone = workspaces.length === 1;
    const left = await this.insert(integration, lacking, ({ slug }) => (isAlone ? base : joined(base, slug)));
    if (left.length === 0) return;
    if (isAlone && chosen !== undefined) throw slugTaken(chosen);
    await this.insert(integration, left, () => withSuffix(base.slice(0, LONGEST_BASE).replace(/-$/, '')));
  }

  private async withoutProvider(
    { id: integrationId }: Integration,
    workspaces: readonly GrantedWorkspace[],
  ): Promise<GrantedWorkspace[]> {
    const providers = await this.workspaceProviders.find({
      where: { integrationId },
      select: { workspaceId: true },
    });
    const have = new Set(providers.map(({ workspaceId }) => workspaceId));
    return workspaces.filter(({ id }) => !have.has(id));
  }

  /** Returns the workspaces whose slug was taken. */
  private async insert(
    { id: integrationId, organizationId, name }: Integration,
    workspaces: readonly GrantedWorkspace[],
    slugFor: (workspace: GrantedWorkspace) => string,
  ): Promise<GrantedWorkspace[]> {
    const left: GrantedWorkspace[] = [];
    for (let start = 0; start < workspaces.length; start += ROWS_AT_ONCE) {
      const some = workspaces.slice(start, start + ROWS_AT_ONCE);
      const rows = some.map((workspace) => ({
        id: uuidV7(Date.now()),
        organizationId,
        workspaceId: workspace.id,
        integrationId,
        name,
        slug: slugFor(workspace),
      }));
      const inserted = await this.unitOfWork.manager
        .createQueryBuilder()
        .insert()
        .into(WorkspaceProvider)
        .values(rows)
        .orIgnore()
        .returning('workspace_id')
        .execute();
      const done = new Set((inserted.raw as { workspace_id: string }[]).map((row) => row.workspace_id));
      left.push(...some.filter(({ id }) => !done.has(id)));
    }
    return left;
  }
}

/** At most 64 characters, without a trailing hyphen. */
function joined(base: string, slug: string): string {
  return `${base.slice(0, LONGEST_BASE)}-${slug}`.slice(0, 64).replace(/-+$/, '');
}
