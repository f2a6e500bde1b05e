import { Button } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { IconDownload, IconHistory } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { auditExport, type AuditQuery, type AuditRecord, auditQuery } from '../../api/audit';
import { loadStateOf, shownError } from '../../api/load-state';
import { type Filter, filtersText, parseFilters } from '../../parts/filters/filter';
import { FilterBar } from '../../parts/filters/filter-bar';
import { saveFile } from '../../parts/files/save-file';
import { exact } from '../../parts/format/numbers';
import { visibleText } from '../../parts/format/visible-text';
import { intervalOf, parseRange, rangeText } from '../../parts/range/range';
import { RangePicker } from '../../parts/range/range-picker';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Moment, StatusPill, type Tone, Value } from '../../parts/values/values';
import { auditWords } from '../../words/audit';
import { words } from '../../words/en';
import { AUDIT_FIELDS, conditionsOf } from './audit-filters';
import { AuditDrawer } from './audit-drawer';
import { sentenceOf, subjectOf } from './audit-sentence';
import { ChainCheck } from './chain-check';

const { columns: titles, outcomes } = auditWords;
export const OUTCOME_TONES: Readonly<Record<AuditRecord['outcome'], Tone>> = {
  success: 'neutral',
  refused: 'warning',
  failed: 'error',
};

export interface AuditSearch {
  readonly range?: string;
  readonly filter?: string;
  readonly record?: string;
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  {
    key: 'time',
    title: titles.time,
    width: '130px',
    isSorted: true,
    cell: ({ timestamp }) => <Moment at={timestamp} as="moment" />,
  },
  {
    key: 'who',
    title: titles.who,
    width: 'minmax(140px, 1.4fr)',
    cell: ({ actor_name }) => <Value>{actor_name}</Value>,
  },
  {
    key: 'action',
    title: titles.action,
    width: 'minmax(220px, 2.6fr)',
    cell: (record) => <Action record={record} />,
  },
  { key: 'ip', title: titles.ip, width: '130px', cell: ({ client_ip }) => <code>{client_ip}</code> },
  { key: 'result', title: titles.result, width: '90px', cell: (record) => <Outcome record={record} /> },
];

function Action({ record }: { record: AuditRecord }) {
  const subject = subjectOf(record);
  return (
    <>
      {sentenceOf(record)} {subject !== null && <b>{visibleText(subject)}</b>}
    </>
  );
}

function Outcome({ record: { outcome } }: { record: AuditRecord }) {
  return <StatusPill tone={OUTCOME_TONES[outcome]}>{outcomes[outcome] ?? outcome}</StatusPill>;
}

function ExportButton({ view }: { view: AuditQuery }) {
  const download = useMutation({
    mutationFn: () => auditExport(view),
    onSuccess: (file) => saveFile(file, 'audit-log.jsonl'),
  });
  return (
    <>
      {download.isError && (
        <StatusPill tone="error">{shownError(download.error).message || words.errors.unreachable}</StatusPill>
      )}
      <Button
        loading={download.isPending}
        onClick={() => download.mutate()}
        leftSection={<IconDownload size={14} aria-hidden />}
      >
        {auditWords.export}
      </Button>
    </>
  );
}

/** All administrative actions. The URL contains the range, the filters and the open record. */
export function AuditLogPage({
  search,
  onSearch,
}: {
  search: AuditSearch;
  onSearch: (search: AuditSearch) => void;
}) {
  const range = useMemo(() => parseRange(search.range, '24h'), [search.range]);
  const filters = useMemo(() => {
    const parsed = parseFilters(search.filter ?? '', AUDIT_FIELDS);
    return 'filters' in parsed ? parsed.filters : [];
  }, [search.filter]);
  const [openedAt] = useState(Date.now);
  const { from, to } = intervalOf(range, openedAt);
  const view = {
    conditions: conditionsOf(filters),
    from: from.toISOString(),
    to: range.kind === 'absolute' ? to.toISOString() : undefined,
  };
  const list = useInfiniteQuery(auditQuery(view));
  const rows = useMemo(() => list.data?.pages.flatMap(({ records }) => records) ?? [], [list.data]);
  const open = rows.find(({ id }) => id === search.record);
  const change = (part: AuditSearch): void => onSearch({ ...search, ...part });
  const step = (by: number): void => {
    const next = rows[rows.findIndex(({ id }) => id === search.record) + by];
    if (next) change({ record: next.id });
  };
  return (
    <Page
      title={auditWords.title}
      text={auditWords.text}
      isTable
      tools={
        <>
          <ChainCheck />
          <ExportButton view={view} />
          <RangePicker value={range} onChange={(next) => change({ range: rangeText(next) })} />
        </>
      }
    >
      <FilterBar
        fields={AUDIT_FIELDS}
        filters={filters}
        onChange={(next: readonly Filter[]) => change({ filter: filtersText(next) })}
      />
      <DataTable<AuditRecord>
        label={auditWords.table}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ id }) => id}
        state={loadStateOf(list, 'audit_logs.list')}
        selected={search.record}
        renderCompact={(record) => (
          <CompactRow
            title={record.actor_name}
            end={<Outcome record={record} />}
            details={[
              <Moment key="time" at={record.timestamp} as="moment" />,
              <Action key="action" record={record} />,
            ]}
          />
        )}
        onOpen={({ id }) => change({ record: id })}
        onEnd={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : undefined}
        empty={
          <EmptyState
            icon={<IconHistory size={20} aria-hidden />}
            title={auditWords.empty}
            text={auditWords.emptyText}
          />
        }
        footer={auditWords.count(exact(list.data?.pages[0]?.total ?? 0))}
      />
      {open && <AuditDrawer record={open} onClose={() => change({ record: undefined })} onStep={step} />}
    </Page>
  );
}
