import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { facetQuery, hasFacet } from '../../api/facets';
import type { LogQuery } from '../../api/logs';
import type { Filter, FilterField, Suggest } from '../../parts/filters/filter';
import { LOG_FIELDS } from './log-filters';

/** The fields of the filters. API keys are selected by name, if the user may see names. */
export const useLogFields = (keyNames: ReadonlyMap<string, string>): readonly FilterField[] =>
  useMemo(() => {
    const options = [...keyNames].map(([value, label]) => ({ value, label }));
    return LOG_FIELDS.map((field) =>
      field.key === 'api_key' && options.length > 0 ? { ...field, options } : field,
    );
  }, [keyNames]);

/** The API keys that filters name. */
export const keyIdsIn = (filters: readonly Filter[]): readonly string[] =>
  filters.flatMap(({ field, value }) => (field === 'api_key' ? value.split(',') : []));

/** The values of a field in the list, from rollups; and the API keys among those that were suggested. */
export function useSuggestions(query: LogQuery): { suggest: Suggest; keyIds: readonly string[] } {
  const queryClient = useQueryClient();
  const [keyIds, setKeyIds] = useState<readonly string[]>([]);
  const suggest: Suggest = useCallback(
    async (key) => {
      const parameter = LOG_FIELDS.find((field) => field.key === key)?.parameter ?? '';
      if (!hasFacet(parameter)) return [];
      const values = await queryClient.query(facetQuery(parameter, query));
      if (key === 'api_key') setKeyIds(values.map(({ value }) => value));
      return values.map(({ value, requests }) => ({ value, count: requests }));
    },
    [queryClient, query],
  );
  return { suggest, keyIds };
}
