import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { facetQuery, hasFacet } from '../../api/facets';
import type { LogQuery, LogRow } from '../../api/logs';
import type { Filter, FilterField, Suggest } from '../../parts/filters/filter';
import { useKeyNames } from '../../session/key-names';
import { LOG_FIELDS } from './log-filters';

interface LogFields {
  /** API keys are selected by name. */
  readonly fields: readonly FilterField[];
  /** The values of a field in the list, from rollups. */
  readonly suggest: Suggest;
}

type KeyNames = ReadonlyMap<string, string>;

/** The fields of the filters, with the names of the API keys that rows, suggestions and filters have. */
export function useLogFields(
  query: LogQuery,
  rows: readonly LogRow[],
  filters: readonly Filter[],
): LogFields {
  const queryClient = useQueryClient();
  const [suggested, setSuggested] = useState<KeyNames>(new Map());
  const inRows = useMemo(() => namesIn(rows), [rows]);
  const known = useMemo(() => new Map([...inRows, ...suggested]), [inRows, suggested]);
  // A key without a request in the list, in a copied address.
  const others = useKeyNames(keyIdsIn(filters).filter((id) => !known.has(id)));
  const fields = useMemo(() => withKeys([...known, ...others]), [known, others]);
  const suggest: Suggest = useCallback(
    async (key) => {
      const parameter = LOG_FIELDS.find((field) => field.key === key)?.parameter ?? '';
      if (!hasFacet(parameter)) return [];
      const values = await queryClient.query(facetQuery(parameter, query));
      if (key === 'api_key')
        setSuggested(new Map(values.flatMap(({ value, name }) => (name ? [[value, name]] : []))));
      return values.map(({ value, requests }) => ({ value, count: requests }));
    },
    [queryClient, query],
  );
  return { fields, suggest };
}

const namesIn = (rows: readonly LogRow[]): KeyNames =>
  new Map(
    rows.flatMap(({ api_key_id, api_key_name }) =>
      api_key_id !== null && api_key_name ? [[api_key_id, api_key_name]] : [],
    ),
  );

const keyIdsIn = (filters: readonly Filter[]): readonly string[] =>
  filters.flatMap(({ field, value }) => (field === 'api_key' ? value.split(',') : []));

function withKeys(names: readonly (readonly [string, string])[]): readonly FilterField[] {
  const options = names.map(([value, label]) => ({ value, label }));
  return LOG_FIELDS.map((field) =>
    field.key === 'api_key' && options.length > 0 ? { ...field, options } : field,
  );
}
