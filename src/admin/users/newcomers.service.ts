import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Newcomers } from '../../auth/identity/newcomers.js';
import type { Newcomer } from '../../auth/tokens/newcomer.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { User } from '../../common/database/entities/user.entity.js';
import { WorkspaceMember } from '../../common/database/entities/workspace-member.entity.js';
import { Workspace } from '../../common/database/entities/workspace.entity.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from './people.service.js';
import { UserDto } from './user.dto.js';

/** Makes people of whom a signed token spoke first, as far as their organization takes newcomers. */
@Injectable()
export class NewcomersService extends Newcomers {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly people: PeopleService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {
    super();
  }

  /** Of two first requests at the same time one makes the person, and the other finds it. */
  override async welcome(newcomer: Newcomer, request: FastifyRequest): Promise<void> {
    const { organizationId } = newcomer;
    await this.unitOfWork.runFor({ organizationId, isReading: false }, async () => {
      await this.people.takeTurn(organizationId);
      const users = this.unitOfWork.repository(User);
      if ((await users.countBy({ organizationId })) >= newcomer.mostPeople)
        throw new AppError('forbidden', { detail: 'the organization takes no more people by signed token' });
      const id = uuidV7(Date.now());
      const { email, role } = newcomer;
      if ((await this.unitOfWork.insertUnlessTaken(User, { id, organizationId, email, role })) === 0) return;
      const workspaceIds = await this.enter(id, newcomer);
      await this.record(await users.findOneByOrFail({ id }), workspaceIds, request);
      await this.changes.publish({ resource: 'user', id });
    });
  }

  /** Workspaces that are not there (any more) are left out: the person is made all the same. */
  private async enter(userId: string, { organizationId, workspaces }: Newcomer): Promise<readonly string[]> {
    const entered: string[] = [];
    for (const [named, role] of workspaces) {
      const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
      const workspace = await this.unitOfWork
        .repository(Workspace)
        .findOne({ where: { organizationId, ...which }, lock: { mode: 'for_key_share' } });
      if (!workspace || entered.includes(workspace.id)) continue;
      await this.unitOfWork
        .repository(WorkspaceMember)
        .insert({ workspaceId: workspace.id, userId, organizationId, role });
      entered.push(workspace.id);
    }
    return entered;
  }

  private async record(user: User, workspaceIds: readonly string[], request: FastifyRequest): Promise<void> {
    const { id, organizationId, email } = user;
    const actor = {
      kind: 'person',
      apiKeyId: null,
      name: email,
      organizationId,
      workspaceId: null,
      userId: id,
      authorityId: id,
      scopes: new Set<never>(),
      policy: null,
    } as const;
    const notes = {
      action: 'organisation_users.create',
      targetId: id,
      workspaceId: null,
      after: UserDto.from({ user, workspaceIds: [...workspaceIds] }),
    } as const;
    await this.audit.recordApart(request, actor, notes);
  }
}
