import { type FindOptionsWhere, In } from 'typeorm';
import { parameterError } from '../../common/errors/field-errors.js';
import { choiceOf, type ListQuery, parameterOf } from '../../common/http/page.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import { partOfText } from '../../database/part-of-text.js';
import type { ApiKey } from './api-key.entity.js';

export const KEY_TYPES = ['organisation-service', 'workspace-service', 'workspace-user'] as const;
export const KEY_STATUSES = ['active', 'exhausted', 'expired'] as const;

/** Filters of the list of API keys. */
export interface KeyFilters {
  readonly ids?: readonly string[] | undefined;
  readonly type?: ApiKeyType | undefined;
  /** Part of the name, case-insensitive. */
  readonly name?: string | undefined;
  readonly status?: (typeof KEY_STATUSES)[number] | undefined;
  readonly userId?: string | undefined;
}

/** As many as one page can show. */
export const MOST_IDS = 100;

export const keyFiltersOf = (query: ListQuery): KeyFilters => ({
  ids: idsOf(query),
  type: choiceOf(query, 'type', KEY_TYPES),
  name: parameterOf(query, 'name'),
  status: choiceOf(query, 'status', KEY_STATUSES),
  userId: userOf(query),
});

/** The conditions that are columns of the key. Its status also depends on the use of its budgets. */
export const columnsOf = ({ ids, name, userId }: KeyFilters): FindOptionsWhere<ApiKey> => ({
  ...(ids && { id: In([...ids]) }),
  ...(name !== undefined && { name: partOfText(name) }),
  ...(userId !== undefined && { userId }),
});

function idsOf(query: ListQuery): readonly string[] | undefined {
  const ids = parameterOf(query, 'ids')?.split(',');
  if (!ids) return undefined;
  if (ids.length <= MOST_IDS && ids.every(isUuid)) return ids;
  throw parameterError('ids', `must be 1 to ${MOST_IDS} ids of API keys, separated by commas`);
}

function userOf(query: ListQuery): string | undefined {
  const userId = parameterOf(query, 'user_id');
  if (userId === undefined || isUuid(userId)) return userId?.toLowerCase();
  throw parameterError('user_id', 'must be the id of a user');
}
