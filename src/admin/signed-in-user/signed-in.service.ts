import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { scopesOfRoles } from '../../auth/permissions/roles.js';
import type { Scope } from '../../auth/scopes.js';
import { CSRF_HEADER } from '../../auth/strategies/check-origin.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { Organization } from '../tenancy/organization.entity.js';
import type { Session } from '../sessions/session.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { SessionDto } from '../dto-fields/session.dto.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SessionProvidersService } from './session-providers.service.js';
import { SignInMethodsService } from './sign-in-methods.service.js';

const MOST_WORKSPACES = 1_000;
const WORKSPACE_ROLES: readonly WorkspaceRole[] = ['admin', 'manager', 'member'];

type ReachableWorkspace = SignedInDto['workspaces'][number];

/** Shows sessions, and a session's user and their rights. */
@Injectable()
export class SignedInService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    private readonly providers: SessionProvidersService,
    private readonly methods: SignInMethodsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** `scopes`: those of the request; default: the user's scopes without naming a workspace. */
  async of(session: Session, scopes?: ReadonlySet<Scope>): Promise<SignedInDto> {
    const user = await this.users.findOneByOrFail({ id: session.userId });
    const organization = await this.organizations.findOneByOrFail({ id: session.organizationId });
    const switches = organization.settings.security_settings ?? null;
    const [workspaces, workspace_total] = await this.reachable(user);
    return SignedInDto.of({
      user: {
        id: user.id,
        email: user.email,
        first_name: user.firstName,
        last_name: user.lastName,
        role: user.role,
      },
      organisation: { id: organization.id, name: organization.name },
      workspaces,
      workspace_total,
      scopes_by_role: scopesByRole(user, workspaces, switches),
      scopes: sorted(scopes ?? scopesWithoutWorkspace(user, workspaces, switches)),
      session: this.shown(session, true),
      authenticated_at: session.authenticatedAt.toISOString(),
      csrf_header: CSRF_HEADER,
      sign_in_methods: await this.methods.of(user),
      identity_provider: await this.providers.of(session),
    });
  }

  shown(session: Session, isCurrent: boolean): SessionDto {
    const { lifetimeMs, idleMs } = this.settings.sessions;
    const ends = session.createdAt.getTime() + lifetimeMs;
    return {
      object: 'session',
      id: session.id,
      is_current: isCurrent,
      method: session.method,
      ip: session.ip,
      user_agent: session.userAgent,
      created_at: session.createdAt.toISOString(),
      last_seen_at: session.lastSeenAt.toISOString(),
      expires_at: new Date(ends).toISOString(),
      idle_expires_at: new Date(Math.min(ends, session.lastSeenAt.getTime() + idleMs)).toISOString(),
    };
  }

  private async reachable({
    id: userId,
    organizationId,
    role,
  }: User): Promise<[ReachableWorkspace[], number]> {
    const members = await this.members.findBy({ organizationId, userId });
    const roles = new Map(members.map((member) => [member.workspaceId, member.role]));
    const isAdministrator = role !== 'member';
    const where = isAdministrator ? { organizationId } : { organizationId, id: In([...roles.keys()]) };
    const [rows, total] = await this.workspaces.findAndCount({
      where,
      order: { name: 'ASC', id: 'ASC' },
      skip: 0,
      take: MOST_WORKSPACES,
    });
    const shown = rows.map(({ id, name, slug }) => ({
      id,
      name,
      slug,
      role: isAdministrator ? ('admin' as const) : (roles.get(id) ?? 'member'),
    }));
    return [shown, total];
  }
}

const sorted = (scopes: ReadonlySet<Scope>): Scope[] => [...scopes].sort();

function scopesByRole(
  { role: organization }: User,
  workspaces: readonly ReachableWorkspace[],
  switches: PolicyFlags | null,
): SignedInDto['scopes_by_role'] {
  const held = WORKSPACE_ROLES.filter((role) => workspaces.some((workspace) => workspace.role === role));
  return Object.fromEntries(
    held.map((workspace) => [workspace, sorted(scopesOfRoles({ organization, workspace }, switches))]),
  );
}

/** As returned by `sessionPrincipalOf`: a member of one workspace need not name it. */
function scopesWithoutWorkspace(
  { role: organization }: User,
  workspaces: readonly ReachableWorkspace[],
  switches: PolicyFlags | null,
): ReadonlySet<Scope> {
  const [only] = workspaces.length === 1 ? workspaces : [];
  return scopesOfRoles({ organization, workspace: only?.role ?? null }, switches);
}
