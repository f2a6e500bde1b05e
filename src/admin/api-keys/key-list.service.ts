import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  type FindOperator,
  type FindOptionsWhere,
  In,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Reach } from '../../auth/tenant.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Page } from '../../common/http/page.js';
import { pageOfLongList } from '../../database/long-list.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExhausted, LimitsService } from '../limits/limits.service.js';
import { KINDS, kindsFor } from './api-key-kinds.js';
import { ApiKey } from './api-key.entity.js';
import { type KeyFilters, keyConditions } from './key-filters.js';

/** Keys with a budget, whose use decides the status, that a filter by status compares. */
const MOST_BUDGETED = 10_000;

/** Lists API keys. */
@Injectable()
export class KeyListService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly limits: LimitsService,
  ) {}

  /** Newest first, of the kinds that the caller may list, with the total up to `COUNT_MAX`. */
  async list(caller: Principal, reach: Reach, filters: KeyFilters, page: Page): Promise<[ApiKey[], number]> {
    const { type, status, user_id: userId } = filters;
    const own = ownKeysOf(caller);
    const kinds = kindsFor(caller, 'list').filter((kind) => type === undefined || kind === type);
    const isOfOthers = userId !== undefined && own.userId !== undefined && own.userId !== userId;
    if (kinds.length === 0 || isOfOthers) return [[], 0];
    const where = { ...reach, ...keyConditions(filters), ...own, ...ofKinds(kinds) };
    const query = this.apiKeys.createQueryBuilder('key').setFindOptions({ where });
    if (status) await this.filterByStatus(query, status, where);
    return pageOfLongList(this.unitOfWork.manager, query, 'id', page);
  }

  private async filterByStatus(
    query: SelectQueryBuilder<ApiKey>,
    status: NonNullable<KeyFilters['status']>,
    where: FindOptionsWhere<ApiKey>,
  ): Promise<void> {
    if (status === 'expired') return void query.andWhere('key.expiresAt <= now()');
    const ids = await this.exhausted(where);
    query.andWhere('(key.expiresAt IS NULL OR key.expiresAt > now())');
    query.andWhere(`${status === 'active' ? 'NOT ' : ''}(key.id = ANY(:exhausted))`, { exhausted: ids });
  }

  private async exhausted(where: FindOptionsWhere<ApiKey>): Promise<string[]> {
    const budgeted = await this.apiKeys
      .createQueryBuilder('key')
      .select(['key.id', 'key.usageLimits'])
      .setFindOptions({ where })
      .andWhere('key.usageLimits IS NOT NULL')
      .limit(MOST_BUDGETED + 1)
      .getMany();
    if (budgeted.length > MOST_BUDGETED)
      throw new AppError('invalid_request', {
        detail: `More than ${MOST_BUDGETED} of these keys have a budget, too many for the filter "status". Add "workspace_id" or "name".`,
      });
    const usage = await this.limits.usageOf(budgeted);
    return budgeted.filter((key) => isExhausted(key, usage)).map(({ id }) => id);
  }
}

/**
 * A caller that may list all kinds gets no filter by kind: the page is then found in an index without kinds, and no earlier key is read.
 */
function ofKinds(kinds: readonly ApiKeyType[]): { kind?: FindOperator<ApiKeyType> } {
  return kinds.length === Object.keys(KINDS).length ? {} : { kind: In([...kinds]) };
}

/** Keys of other users are "not found" for a caller limited to its own. */
export function ownKeysOf({ hasOnlyOwnKeys, authorityId }: Principal): { userId?: string } {
  return hasOnlyOwnKeys && authorityId !== null ? { userId: authorityId } : {};
}
