import { Button, Kbd } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo } from 'react';
import { type LogRow } from '../../api/logs';
import { type Filter, filtersText } from '../../parts/filters/filter';
import { FilterBar } from '../../parts/filters/filter-bar';
import { exact } from '../../parts/format/numbers';
import { rangeText } from '../../parts/range/range';
import { RangePicker } from '../../parts/range/range-picker';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
import { ColumnChooser } from '../../parts/table/column-chooser';
import { DataTable } from '../../parts/table/data-table';
import { useColumns } from '../../parts/table/use-columns';
import { usePlace } from '../../session/session';
import { words } from '../../words/en';
import { CompactLog, LOG_COLUMN_KEYS, LOG_COLUMNS } from './log-columns';
import { LogsHistogram } from './logs-histogram';
import styles from './logs.module.css';
import { type LiveState, useLiveLogs } from './use-live-logs';
import { ExportButton, SavedViewsButton } from './view-tools';
import { type LogSearch, useLogList } from './use-log-list';
import { useLogFields } from './use-log-fields';

interface LogsPageProps {
  readonly search: LogSearch;
  readonly onSearch: (search: LogSearch) => void;
  readonly openId: string | undefined;
  readonly onOpen: (id: string) => void;
}

/** All requests of a workspace. The URL contains the filters, the range, the columns and the open request. */
export function LogsPage({ search, onSearch, openId, onOpen }: LogsPageProps) {
  const { range, filters, interval, query, list, rows, firstRow, state } = useLogList(search);
  const { suggest, fields } = useLogFields(query, rows, filters);
  const { shown, choose } = useColumns('logs', search.columns, LOG_COLUMN_KEYS);
  const columns = useMemo(() => LOG_COLUMNS.filter(({ key }) => shown.includes(key)), [shown]);
  const isLive = search.live === 'on';
  const { live, hasNewer, onTop } = useLiveLogs(isLive, query);
  const { workspace } = usePlace();
  const renderLink = useCallback(
    ({ id }: LogRow, content: ReactNode) => (
      <Link
        to="/w/$workspace/logs/$id"
        params={{ workspace: workspace.slug, id }}
        search={search}
        tabIndex={-1}
        data-row-link
      >
        {content}
      </Link>
    ),
    [workspace.slug, search],
  );
  const change = (part: LogSearch): void => onSearch({ ...search, ...part });
  const changeFilters = (next: readonly Filter[]): void => change({ filter: filtersText(next) });
  return (
    <Page
      title={words.logs.title}
      text={words.logs.text}
      isTable
      tools={
        <>
          <RangePicker value={range} onChange={(next) => change({ range: rangeText(next) })} />
          <LiveButton
            isLive={isLive}
            live={live}
            onToggle={() => change({ live: isLive ? undefined : 'on' })}
          />
          <ExportButton query={query} />
        </>
      }
    >
      <FilterBar fields={fields} filters={filters} suggest={suggest} onChange={changeFilters}>
        <SavedViewsButton search={search} onSearch={change} />
        <ColumnChooser
          columns={LOG_COLUMNS}
          shown={shown}
          onChange={(next) => change({ columns: choose(next) })}
        />
      </FilterBar>
      <LiveNotice live={live} />
      <LogsHistogram
        query={query}
        interval={interval}
        isLive={isLive}
        onSelect={(chosen) => change({ range: rangeText({ kind: 'absolute', ...chosen }) })}
      />
      <DataTable<LogRow>
        label={words.logs.table}
        columns={columns}
        rows={rows}
        firstRow={firstRow}
        onStart={list.hasPreviousPage && !list.isFetching ? () => void list.fetchPreviousPage() : undefined}
        keyOf={({ id }) => id}
        state={state}
        selected={openId}
        renderCompact={renderCompact}
        onTop={onTop}
        toTop={hasNewer ? words.logs.newer : undefined}
        onOpen={({ id }) => onOpen(id)}
        renderLink={renderLink}
        onEnd={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : undefined}
        empty={<NoLogs isFiltered={filters.length > 0} onClear={() => changeFilters([])} />}
        footer={<LogsFooter count={firstRow + rows.length} isLoading={list.isFetchingNextPage} />}
      />
    </Page>
  );
}

const renderCompact = (row: LogRow) => <CompactLog row={row} />;

interface LiveButtonProps {
  readonly isLive: boolean;
  readonly live: LiveState;
  readonly onToggle: () => void;
}

function LiveButton({ isLive, live, onToggle }: LiveButtonProps) {
  return (
    <Button
      leftSection={<span className={styles.dot} data-phase={live.phase} aria-hidden />}
      aria-pressed={isLive}
      title={isLive ? words.logs.livePaused : words.logs.liveStart}
      onClick={onToggle}
    >
      {words.logs.live}
    </Button>
  );
}

/** Informs the user that rows are missing from the updates, or that updates have stopped. */
function LiveNotice({ live: { phase, dropped } }: { live: LiveState }) {
  const text =
    phase === 'ended'
      ? words.logs.liveEnded
      : phase === 'interrupted'
        ? words.logs.liveReconnecting
        : dropped > 0
          ? words.logs.liveDropped(exact(dropped))
          : null;
  return text === null ? null : (
    <p className={styles.notice} role="status">
      {text}
    </p>
  );
}

function LogsFooter({ count, isLoading }: { count: number; isLoading: boolean }) {
  return (
    <>
      <span aria-live="polite">{isLoading ? words.logs.loadMore : words.logs.showing(exact(count))}</span>
      <span className={styles.keys}>
        <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> {words.parts.move}{' '}
        <Kbd size="xs">{words.parts.enterKey}</Kbd> {words.parts.open}
      </span>
    </>
  );
}

const exampleOf = (): string =>
  [
    `curl ${location.origin}/v1/chat/completions \\`,
    `  -H "x-gateway-api-key: ${words.logs.keyMissing}" -H "x-gateway-provider: sandbox" \\`,
    `  -H "content-type: application/json" -d '{"model":"sandbox-1","messages":[{"role":"user","content":"Hello"}]}'`,
  ].join('\n');

function NoLogs({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const icon = <IconListSearch size={20} aria-hidden />;
  if (isFiltered)
    return (
      <EmptyState icon={icon} title={words.logs.emptyFiltered} text={words.logs.emptyFilteredText}>
        <Button onClick={onClear}>{words.logs.clear}</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={icon} title={words.logs.empty} text={words.logs.emptyText}>
      <pre className={styles.command}>{exampleOf()}</pre>
    </EmptyState>
  );
}
