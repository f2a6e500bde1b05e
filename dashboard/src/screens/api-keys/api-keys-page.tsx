import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconDots, IconKey } from '@tabler/icons-react';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { lastUseQuery } from '../../api/key-use';
import { type ApiKey, apiKeysQuery, limitsOf } from '../../api/keys';
import { loadStateOf } from '../../api/load-state';
import { type Filter, filtersText } from '../../parts/filters/filter';
import { FilterBar } from '../../parts/filters/filter-bar';
import { exact } from '../../parts/format/numbers';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LimitMeter } from '../../parts/values/limit-meter';
import { Moment, StatusPill, type Tone, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { words } from '../../words/en';
import { RevokeDialog, RotateDialog } from './key-actions';
import { CreateKeyDialog } from './create-key-dialog';
import { filtersOf, KEY_FIELDS, matches } from './key-filters';
import { RevokeManyDialog } from './revoke-many-dialog';
import { summaryOf } from './scope-summary';

const { columns: titles, types, status: statuses } = apiKeyWords;
const TONES: Readonly<Record<ApiKey['status'], Tone>> = {
  active: 'success',
  exhausted: 'error',
  expired: 'warning',
};
const ROW_HEIGHT = 44;

type Open = { readonly what: 'many' } | { readonly what: 'revoke' | 'rotate'; readonly key: ApiKey } | null;

interface ApiKeysPageProps {
  readonly isCreating: boolean;
  readonly filter: string | undefined;
  readonly onCreating: (isOpen: boolean) => void;
  readonly onFilter: (filter: string) => void;
}

/** The API keys of a workspace and their permissions. */
export function ApiKeysPage({ isCreating, filter, onCreating, onFilter }: ApiKeysPageProps) {
  const { session, workspace } = usePlace();
  const query = useQuery(apiKeysQuery(workspace.slug));
  const use = useQuery(lastUseQuery(workspace.slug));
  const [open, setOpen] = useState<Open>(null);
  const openKey: OnKey = useCallback((what, key) => setOpen({ what, key }), []);
  const columns = useMemo(
    () => columnsOf(openKey, { me: session.user.id, lastUse: use.data }),
    [openKey, session.user.id, use.data],
  );
  const filters = useMemo(() => filtersOf(filter), [filter]);
  const all = query.data?.data ?? [];
  const rows = all.filter((key) => matches(key, filters));
  const create = <CreateButton onClick={() => onCreating(true)} />;
  return (
    <Page title={apiKeyWords.title} text={apiKeyWords.text} isTable action={create}>
      <FilterBar
        fields={KEY_FIELDS}
        filters={filters}
        onChange={(next: readonly Filter[]) => onFilter(filtersText(next))}
      >
        <RevokeManyButton isEmpty={rows.length === 0} onClick={() => setOpen({ what: 'many' })} />
      </FilterBar>
      <DataTable<ApiKey>
        label={apiKeyWords.table}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        state={loadStateOf(query, 'workspace_service_api_keys.list')}
        rowHeight={ROW_HEIGHT}
        renderCompact={(key) => <CompactKey apiKey={key} onOpen={openKey} />}
        empty={<NoKeys isFiltered={all.length > 0}>{create}</NoKeys>}
        footer={footerOf(query.data?.total ?? 0, rows.length, all.length)}
      />
      {isCreating && <CreateKeyDialog onClose={() => onCreating(false)} />}
      {open?.what === 'many' && <RevokeManyDialog keys={rows} onClose={() => setOpen(null)} />}
      {open?.what === 'revoke' && <RevokeDialog apiKey={open.key} onClose={() => setOpen(null)} />}
      {open?.what === 'rotate' && <RotateDialog apiKey={open.key} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function footerOf(total: number, shown: number, read: number): string {
  const count = apiKeyWords.count(shown < read ? shown : total);
  return total > read ? `${count} · ${apiKeyWords.more(exact(read))}` : count;
}

function NoKeys({ isFiltered, children }: { isFiltered: boolean; children: ReactNode }) {
  const { empty, emptyText, emptyFiltered, emptyFilteredText } = apiKeyWords;
  return (
    <EmptyState
      icon={<IconKey size={20} aria-hidden />}
      title={isFiltered ? emptyFiltered : empty}
      text={isFiltered ? emptyFilteredText : emptyText}
    >
      {!isFiltered && children}
    </EmptyState>
  );
}

function RevokeManyButton({ isEmpty, onClick }: { isEmpty: boolean; onClick: () => void }) {
  const may = useMay();
  const scope = 'workspace_service_api_keys.delete';
  return (
    <Can isAllowed={may(scope) || may('workspace_user_api_keys.delete')} scope={scope}>
      <Button disabled={isEmpty} onClick={onClick}>
        {apiKeyWords.many.open}
      </Button>
    </Can>
  );
}

function CreateButton({ onClick }: { onClick: () => void }) {
  const may = useMay();
  const isAllowed = may('workspace_service_api_keys.create') || may('workspace_user_api_keys.create');
  return (
    <Can isAllowed={isAllowed} scope="workspace_service_api_keys.create">
      <Button variant="filled" onClick={onClick}>
        {apiKeyWords.create}
      </Button>
    </Can>
  );
}

interface ColumnFacts {
  readonly me: string;
  /** Unknown until loaded. */
  readonly lastUse: ReadonlyMap<string, string | null> | undefined;
}

type OnKey = (what: 'revoke' | 'rotate', key: ApiKey) => void;

const columnsOf = (open: OnKey, { me, lastUse }: ColumnFacts): readonly Column<ApiKey>[] => [
  {
    key: 'name',
    title: titles.name,
    width: 'minmax(120px, 1.4fr)',
    cell: ({ name }) => <Value>{name}</Value>,
  },
  { key: 'key', title: titles.key, width: '140px', cell: ({ key }) => <code>{key}</code> },
  {
    key: 'owner',
    title: titles.owner,
    width: 'minmax(70px, 1fr)',
    cell: ({ type, user_id }) => (
      <Value isMuted>{user_id === me ? apiKeyWords.me : (types[type] ?? type)}</Value>
    ),
  },
  {
    key: 'can',
    title: titles.can,
    width: 'minmax(120px, 1.6fr)',
    cell: ({ scopes }) => <Value isMuted>{summaryOf(scopes)}</Value>,
  },
  {
    key: 'status',
    title: titles.status,
    width: '80px',
    cell: ({ status }) => <StatusPill tone={TONES[status]}>{statuses[status] ?? status}</StatusPill>,
  },
  {
    key: 'used',
    title: titles.used,
    width: '90px',
    cell: ({ id }) => <LastUse lastUse={lastUse} id={id} />,
  },
  {
    key: 'budget',
    title: titles.budget,
    width: '150px',
    cell: (key) => <LimitMeter label={key.name} limits={limitsOf(key)} />,
  },
  {
    key: 'expires',
    title: titles.expires,
    width: '96px',
    cell: ({ expires_at }) => <Moment at={expires_at} as="date" />,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (key) => <KeyMenu apiKey={key} onOpen={open} />,
  },
];

function LastUse({ lastUse, id }: { lastUse: ColumnFacts['lastUse']; id: string }) {
  const at = lastUse?.get(id) ?? null;
  if (lastUse !== undefined && at === null) return <Value isMuted>{apiKeyWords.unused}</Value>;
  return <Moment at={at} />;
}

const PERMISSION: Readonly<Record<ApiKey['type'], string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
};

function KeyMenu({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: OnKey }) {
  const may = useMay();
  const scope = PERMISSION[apiKey.type];
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${apiKey.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={!may(`${scope}.rotate`)} onClick={() => onOpen('rotate', apiKey)}>
          {apiKeyWords.rotate}
        </Menu.Item>
        <Menu.Item color="red" disabled={!may(`${scope}.delete`)} onClick={() => onOpen('revoke', apiKey)}>
          {apiKeyWords.revoke}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function CompactKey({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: OnKey }) {
  return (
    <CompactRow
      title={apiKey.name}
      end={<StatusPill tone={TONES[apiKey.status]}>{statuses[apiKey.status] ?? apiKey.status}</StatusPill>}
      details={[<code key="key">{apiKey.key}</code>, types[apiKey.type] ?? apiKey.type]}
      note={<KeyMenu apiKey={apiKey} onOpen={onOpen} />}
    />
  );
}
