import { type FindOptionsWhere, In } from 'typeorm';
import { partOfText } from '../../database/part-of-text.js';
import type { ApiKey } from './api-key.entity.js';
import type { ListKeysQuery } from './key-query.dto.js';

/** Filters of the list of API keys. */
export type KeyFilters = Pick<ListKeysQuery, 'ids' | 'type' | 'name' | 'status' | 'user_id'>;

/** The conditions that are columns of the key. Its status also depends on the use of its budgets. */
export const keyConditions = ({ ids, name, user_id }: KeyFilters): FindOptionsWhere<ApiKey> => ({
  ...(ids && { id: In([...ids]) }),
  ...(name !== undefined && { name: partOfText(name) }),
  ...(user_id !== undefined && { userId: user_id }),
});
