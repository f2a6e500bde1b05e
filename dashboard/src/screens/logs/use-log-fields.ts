import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { facetQuery, hasFacet } from '../../api/facets';
import type { LogQuery } from '../../api/logs';
import type { FilterField, Suggest } from '../../parts/filters/filter';
import { LOG_FIELDS } from './log-filters';

/** The fields of the filters. API keys are selected by name, if the user may see names. */
export const useLogFields = (keyNames: ReadonlyMap<string, string>): readonly FilterField[] =>
  useMemo(() => {
    const options = [...keyNames].map(([value, label]) => ({ value, label }));
    return LOG_FIELDS.map((field) =>
      field.key === 'api_key' && options.length > 0 ? { ...field, options } : field,
    );
  }, [keyNames]);

/** The values of a field in the list, from rollups. */
export function useSuggestions(query: LogQuery): Suggest {
  const queryClient = useQueryClient();
  return useCallback(
    async (key) => {
      const parameter = LOG_FIELDS.find((field) => field.key === key)?.parameter ?? '';
      if (!hasFacet(parameter)) return [];
      const values = await queryClient.query(facetQuery(parameter, query));
      return values.map(({ value, requests }) => ({ value, count: requests }));
    },
    [queryClient, query],
  );
}
