import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { loadStateOf } from '../../api/load-state';
import { type LogQuery, logsQuery, rowsBefore } from '../../api/logs';
import { parseFilters } from '../../parts/filters/filter';
import { intervalOf, parseRange, rangeText } from '../../parts/range/range';
import { usePlace } from '../../session/session';
import { conditionsOf, LOG_FIELDS } from './log-filters';

/** The list's state in the URL. */
export interface LogSearch {
  readonly range?: string;
  readonly filter?: string;
  readonly columns?: string;
  readonly live?: string;
}

const DEFAULT_RANGE = '1h';
const MINUTE_MS = 60_000;

/** The list for a URL: its filters and range, its rows, and the loading state. */
export function useLogList(search: LogSearch) {
  const { workspace } = usePlace();
  const range = useMemo(() => parseRange(search.range, DEFAULT_RANGE), [search.range]);
  const filters = useMemo(() => {
    const parsed = parseFilters(search.filter ?? '', LOG_FIELDS);
    return 'filters' in parsed ? parsed.filters : [];
  }, [search.filter]);
  // A relative range is fixed while the page shows it, so that the chart and the list agree.
  const [openedAt] = useState(Date.now);
  const interval = useMemo(() => intervalOf(range, openedAt), [range, openedAt]);
  const query: LogQuery = useMemo(
    () => ({
      workspace: workspace.slug,
      conditions: conditionsOf(filters),
      time:
        range.kind === 'absolute'
          ? { from: range.from.toISOString(), to: range.to.toISOString() }
          : { minutes: Math.round((interval.to.getTime() - interval.from.getTime()) / MINUTE_MS) },
    }),
    [workspace.slug, filters, range, interval],
  );
  const list = useInfiniteQuery(logsQuery(query));
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  return {
    range,
    rangeKey: rangeText(range),
    filters,
    interval,
    query,
    list,
    rows,
    firstRow: rowsBefore(list.data?.pageParams ?? []),
    state: loadStateOf(list, 'logs.list'),
  };
}
