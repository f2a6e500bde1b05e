import type { ApiKey } from '../../api/keys';
import { type Filter, type FilterField, parseFilters } from '../../parts/filters/filter';
import { apiKeyWords } from '../../words/api-keys';

const { filters: names, status, types } = apiKeyWords;

const choices = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, label]) => ({ value, label }));

export const KEY_FIELDS: readonly FilterField[] = [
  { key: 'status', label: names.status, operators: ['is'], options: choices(status), isClosed: true },
  { key: 'owner', label: names.owner, operators: ['is'], options: choices(types), isClosed: true },
  { key: 'name', label: names.name, operators: ['is'] },
];

export function filtersOf(text: string | undefined): readonly Filter[] {
  const parsed = parseFilters(text ?? '', KEY_FIELDS);
  return 'filters' in parsed ? parsed.filters : [];
}

const MATCHES: Readonly<Record<string, (key: ApiKey, value: string) => boolean>> = {
  status: (key, value) => key.status === value,
  owner: (key, value) => key.type === value,
  name: (key, value) => key.name.toLowerCase().includes(value.toLowerCase()),
};

/** Whether a key matches all filters. */
export const matches = (key: ApiKey, filters: readonly Filter[]): boolean =>
  filters.every(({ field, value }) => MATCHES[field]?.(key, value) ?? true);
