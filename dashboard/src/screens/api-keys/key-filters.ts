import type { KeyConditions } from '../../api/keys';
import { type Filter, type FilterField, parseFilters } from '../../parts/filters/filter';
import { apiKeyWords } from '../../words/api-keys';
import type { KeyLevel } from './scope-groups';

const { filters: names, status, types } = apiKeyWords;

const choices = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, label]) => ({ value, label }));

const BY_STATUS: FilterField = {
  key: 'status',
  label: names.status,
  operators: ['is'],
  options: choices(status),
  isClosed: true,
};
const BY_OWNER: FilterField = {
  key: 'owner',
  label: names.owner,
  operators: ['is'],
  options: choices(types).filter(({ value }) => value !== 'organisation-service'),
  isClosed: true,
};
const BY_NAME: FilterField = { key: 'name', label: names.name, operators: ['is'] };

export const KEY_FIELDS: Readonly<Record<KeyLevel, readonly FilterField[]>> = {
  workspace: [BY_STATUS, BY_OWNER, BY_NAME],
  organization: [BY_STATUS, BY_NAME],
};

export function filtersOf(text: string | undefined, level: KeyLevel): readonly Filter[] {
  const parsed = parseFilters(text ?? '', KEY_FIELDS[level]);
  return 'filters' in parsed ? parsed.filters : [];
}

const PARAMETERS: Readonly<Record<string, keyof KeyConditions>> = {
  status: 'status',
  owner: 'type',
  name: 'name',
};

/** The parameters of `GET /v1/api-keys`. Of two filters on one field, the later one applies. */
export const conditionsOf = (filters: readonly Filter[]): KeyConditions =>
  Object.fromEntries(
    filters.flatMap(({ field, value }) => (PARAMETERS[field] ? [[PARAMETERS[field], value]] : [])),
  );
