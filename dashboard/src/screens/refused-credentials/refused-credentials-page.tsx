import { IconKeyOff } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useList } from '../../api/lists';
import {
  type RefusalReason,
  type RefusedCredential,
  refusedCredentialsQuery,
} from '../../api/refused-credentials';
import { type Filter, type FilterField, filtersText, parseFilters } from '../../parts/filters/filter';
import { FilterBar } from '../../parts/filters/filter-bar';
import { exact } from '../../parts/format/numbers';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Moment, StatusPill, Value } from '../../parts/values/values';
import { useKeyNames } from '../../session/key-names';
import { refusedCredentialWords } from '../../words/refused-credentials';

const { columns: titles, reasons } = refusedCredentialWords;

const FIELDS: readonly FilterField[] = [
  {
    key: 'reason',
    label: titles.reason,
    operators: ['is'],
    options: Object.entries(reasons).map(([value, label]) => ({ value, label })),
    isClosed: true,
  },
];

const isReason = (text: string): text is RefusalReason => Object.hasOwn(reasons, text);

interface RefusedCredentialsPageProps {
  readonly filter: string | undefined;
  readonly onFilter: (filter: string) => void;
}

/** Requests without a valid credential, added up by address, key and reason. */
export function RefusedCredentialsPage({ filter, onFilter }: RefusedCredentialsPageProps) {
  const filters = useMemo(() => {
    const parsed = parseFilters(filter ?? '', FIELDS);
    return 'filters' in parsed ? parsed.filters : [];
  }, [filter]);
  const reason = filters.map(({ value }) => value).findLast(isReason);
  const list = useList(
    useMemo(() => refusedCredentialsQuery(reason), [reason]),
    'audit_logs.list',
  );
  const names = useKeyNames(list.rows.map(({ api_key_id }) => api_key_id));
  const columns = useMemo(() => columnsOf(names), [names]);
  const requests = list.pages?.at(-1)?.requests ?? 0;
  return (
    <Page title={refusedCredentialWords.title} text={refusedCredentialWords.text} isTable>
      <FilterBar
        fields={FIELDS}
        filters={filters}
        onChange={(next: readonly Filter[]) => onFilter(filtersText(next))}
      />
      <DataTable<RefusedCredential>
        label={refusedCredentialWords.table}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        state={list.state}
        onEnd={list.onEnd}
        renderCompact={(row) => (
          <CompactRow
            title={row.address ?? refusedCredentialWords.others}
            end={<Reason row={row} />}
            details={[
              <Moment key="time" at={row.last_at} as="moment" />,
              keyOf(row, names),
              refusedCredentialWords.requests(exact(row.requests)),
            ]}
          />
        )}
        empty={
          <EmptyState
            icon={<IconKeyOff size={20} aria-hidden />}
            title={refusedCredentialWords.empty}
            text={reason ? refusedCredentialWords.emptyFiltered : refusedCredentialWords.emptyText}
          />
        }
        footer={refusedCredentialWords.count(exact(requests))}
      />
    </Page>
  );
}

/** A row of an ended key is a client to repair; others may be scans. */
const isOwnKey = ({ api_key_id }: RefusedCredential): boolean => api_key_id !== null;

function Reason({ row }: { row: RefusedCredential }) {
  return <StatusPill tone={isOwnKey(row) ? 'warning' : 'neutral'}>{reasons[row.reason]}</StatusPill>;
}

/** The name of an ended key, if it can be read, and the end of the credential. */
function keyOf({ api_key_id, last_four }: RefusedCredential, names: ReadonlyMap<string, string>): string {
  const end = last_four === null ? '' : refusedCredentialWords.endOf(last_four);
  return [names.get(api_key_id ?? '') ?? '', end].filter(Boolean).join(' ');
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<RefusedCredential>[] => [
  {
    key: 'last',
    title: titles.last,
    width: '130px',
    isSorted: true,
    cell: ({ last_at }) => <Moment at={last_at} as="moment" />,
  },
  { key: 'reason', title: titles.reason, width: '160px', cell: (row) => <Reason row={row} /> },
  {
    key: 'address',
    title: titles.address,
    width: 'minmax(130px, 1fr)',
    cell: ({ address }) =>
      address === null ? <Value isMuted>{refusedCredentialWords.others}</Value> : <code>{address}</code>,
  },
  {
    key: 'key',
    title: titles.key,
    width: 'minmax(110px, 1.2fr)',
    cell: (row) => <Value>{keyOf(row, names)}</Value>,
  },
  {
    key: 'path',
    title: titles.path,
    width: 'minmax(140px, 1.6fr)',
    cell: ({ path }) => <Value isMuted>{path}</Value>,
  },
  {
    key: 'requests',
    title: titles.requests,
    width: '90px',
    align: 'end',
    cell: ({ requests }) => <Value>{exact(requests)}</Value>,
  },
  {
    key: 'first',
    title: titles.first,
    width: '130px',
    cell: ({ first_at }) => <Moment at={first_at} as="moment" />,
  },
];
