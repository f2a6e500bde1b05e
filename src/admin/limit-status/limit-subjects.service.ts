import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOperator, type FindOptionsWhere, In, IsNull, Not, Raw, type Repository } from 'typeorm';
import { requireCaller } from '../../auth/permissions/callers.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import type { Scope } from '../../auth/scopes.js';
import type { Principal } from '../../auth/principal.js';
import type { Reach } from '../../auth/tenant.js';
import { API_KEY_TYPES, type ApiKeyType } from '../../common/contracts/api-key-type.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import type { LimitSubject } from './limit-statuses.js';

/** A subject with its limits as stored. */
export interface LimitedSubject {
  readonly subject: LimitSubject;
  readonly rateLimits: readonly RateRule[] | null;
  readonly usageLimits: readonly BudgetRule[] | null;
}

/** A subject that can be changed. */
export interface ChangeableSubject extends LimitedSubject {
  /** The scope that the change requires. */
  readonly scope: Scope;
  readonly save: (usageLimits: BudgetRule[]) => Promise<unknown>;
}

const MOST_SUBJECTS = 1_000;

type LimitSubjectEntity = ApiKey | VirtualKey | Workspace;

const keyScope = (kind: ApiKeyType, verb: 'list' | 'update'): Scope =>
  `${kind.replaceAll('-', '_') as 'workspace_service'}_api_keys.${verb}`;

/** Finds API keys, virtual keys and workspaces by their limits, as far as a caller may see or change them. */
@Injectable()
export class LimitSubjects {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
  ) {}

  /** All subjects with limits, and whether there are more than were read. */
  async list(caller: Principal, reach: Reach): Promise<{ subjects: LimitedSubject[]; isPartial: boolean }> {
    const { usageLimits, rateLimits } = { usageLimits: Not(IsNull()), rateLimits: Not(IsNull()) };
    const read = <T extends LimitSubjectEntity>(
      repository: Repository<T>,
      where: FindOptionsWhere<T>,
    ): Promise<T[]> =>
      repository.find({
        where: [
          { ...where, usageLimits },
          { ...where, rateLimits },
        ] as FindOptionsWhere<T>[],
        take: MOST_SUBJECTS + 1,
      });
    const subjects = [
      await read(this.apiKeys, this.keysOf(caller, reach)),
      caller.scopes.has('virtual_keys.list') ? await read(this.virtualKeys, virtualKeysOf(reach)) : [],
      caller.scopes.has('workspaces.read') ? await read(this.workspaces, workspacesOf(reach)) : [],
    ];
    return {
      subjects: subjects.flatMap((rows) => rows.slice(0, MOST_SUBJECTS).map(subjectOf)),
      isPartial: subjects.some((rows) => rows.length > MOST_SUBJECTS),
    };
  }

  /** Locks the subject of a budget. Refuses with `not_found` what the caller cannot see. */
  async lockByBudget(caller: Principal, reach: Reach, ruleId: string): Promise<ChangeableSubject> {
    const usageLimits: FindOperator<unknown> = Raw((column) => `${column} @> :rule::jsonb`, {
      rule: JSON.stringify([{ id: ruleId }]),
    });
    const subjects =
      (await this.lock(this.apiKeys, { ...this.keysOf(caller, reach), usageLimits })) ??
      (await this.lock(this.virtualKeys, { ...virtualKeysOf(reach), usageLimits })) ??
      (await this.lock(this.workspaces, { ...workspacesOf(reach), usageLimits }));
    if (!subjects) throw new AppError('not_found', { resource: 'limit' });
    return subjects;
  }

  private async lock<T extends LimitSubjectEntity>(
    repository: Repository<T>,
    where: object,
  ): Promise<ChangeableSubject | null> {
    const named = await repository.findOne({ where });
    if (!named) return null;
    const row = await repository.findOne({
      where: { id: named.id } as FindOptionsWhere<T>,
      lock: { mode: 'pessimistic_write' },
    });
    if (!row) return null;
    const save = (usageLimits: BudgetRule[]): Promise<unknown> =>
      repository.save(Object.assign(row, { usageLimits }));
    return { ...subjectOf(row), scope: scopeOf(row), save };
  }

  private keysOf(caller: Principal, reach: Reach): FindOptionsWhere<ApiKey> {
    const { hasOnlyOwnKeys, authorityId } = caller;
    const kinds = API_KEY_TYPES.filter((kind) => caller.scopes.has(keyScope(kind, 'list')));
    const own = hasOnlyOwnKeys && authorityId !== null ? { userId: authorityId } : {};
    return { ...reach, ...own, kind: In(kinds) };
  }
}

/** Refuses callers that may not change the limits of a subject. No key can raise its own. */
export function checkMayChange(caller: Principal, { subject, scope }: ChangeableSubject): void {
  requireScope(caller, scope);
  if (subject.type === 'workspace') requireCaller(caller, 'administrators');
  if (caller.apiKeyId === subject.id)
    throw new AppError('forbidden', { detail: 'a key cannot change its own limits' });
}

const virtualKeysOf = (reach: Reach): FindOptionsWhere<VirtualKey> => ({ ...reach, integrationId: IsNull() });

const workspacesOf = ({ organizationId, workspaceId }: Reach): FindOptionsWhere<Workspace> => ({
  organizationId,
  ...(workspaceId === undefined ? {} : { id: workspaceId }),
});

function scopeOf(row: LimitSubjectEntity): Scope {
  if (row instanceof ApiKey) return keyScope(row.kind, 'update');
  return row instanceof VirtualKey ? 'virtual_keys.update' : 'workspaces.update';
}

function subjectOf(row: LimitSubjectEntity): LimitedSubject {
  const { id, name, rateLimits, usageLimits } = row;
  return { subject: { id, name, ...placeOf(row) }, rateLimits, usageLimits };
}

function placeOf(row: LimitSubjectEntity): Pick<LimitSubject, 'type' | 'slug' | 'workspaceId'> {
  if (row instanceof ApiKey) return { type: 'api_key', slug: null, workspaceId: row.workspaceId };
  if (row instanceof VirtualKey) return { type: 'virtual_key', slug: row.slug, workspaceId: row.workspaceId };
  return { type: 'workspace', slug: row.slug, workspaceId: row.id };
}
