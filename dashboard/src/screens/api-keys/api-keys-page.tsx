import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconKey } from '@tabler/icons-react';
import { type ComponentProps, type ReactNode, useCallback, useMemo, useState } from 'react';
import { type LastUse, useLastUse } from '../../api/key-use';
import { type ApiKey, apiKeysQuery, limitsOf } from '../../api/keys';
import { useList } from '../../api/lists';
import { type Filter, filtersText } from '../../parts/filters/filter';
import { FilterBar } from '../../parts/filters/filter-bar';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { useNow } from '../../parts/values/use-now';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LimitMeter } from '../../parts/values/limit-meter';
import { Moment, StatusPill, type Tone, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { words } from '../../words/en';
import { RevokeDialog, RotateDialog } from './key-actions';
import { CreateKeyDialog } from './create-key-dialog';
import { EditKeyDrawer } from './edit-key-drawer';
import { conditionsOf, filtersOf, KEY_FIELDS } from './key-filters';
import { scopeOfKey } from './key-permission';
import { RevokeManyDialog } from './revoke-many-dialog';
import type { KeyLevel } from './scope-groups';
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
  /** The keys of the workspace, or those of the organization. */
  readonly level: KeyLevel;
  readonly isCreating: boolean;
  /** Id of the key being changed. */
  readonly edited: string | undefined;
  readonly filter: string | undefined;
  readonly onCreating: (isOpen: boolean) => void;
  readonly onEditing: (id: string | undefined) => void;
  readonly onFilter: (filter: string) => void;
}

const TYPES: Readonly<Record<KeyLevel, readonly ApiKey['type'][]>> = {
  workspace: ['workspace-service', 'workspace-user'],
  organization: ['organisation-service'],
};

const wordsOf = (level: KeyLevel) =>
  level === 'organization' ? { ...apiKeyWords, ...apiKeyWords.admin } : apiKeyWords;

/** The API keys of a workspace or of the organization, and their permissions. */
export function ApiKeysPage(props: ApiKeysPageProps) {
  const { level, isCreating, edited, filter, onCreating, onEditing, onFilter } = props;
  const { session } = usePlace();
  const texts = wordsOf(level);
  const filters = useMemo(() => filtersOf(filter, level), [filter, level]);
  const { rows, pages, total, state, onEnd } = useKeys(level, filters);
  const lastUse = useLastUse(pages);
  const [open, setOpen] = useState<Open>(null);
  const openKey: OnKey = useCallback(
    (what, key) => (what === 'edit' ? onEditing(key.id) : setOpen({ what, key })),
    [onEditing],
  );
  const columns = useMemo(
    () => columnsOf(openKey, { me: session.user.id, lastUse }, level),
    [openKey, session.user.id, lastUse, level],
  );
  const create = <CreateButton level={level} onClick={() => onCreating(true)} />;
  return (
    <Page title={texts.title} text={texts.text} isTable action={create}>
      <FilterBar
        fields={KEY_FIELDS[level]}
        filters={filters}
        onChange={(next: readonly Filter[]) => onFilter(filtersText(next))}
      >
        <RevokeManyButton
          level={level}
          isEmpty={rows.length === 0}
          onClick={() => setOpen({ what: 'many' })}
        />
      </FilterBar>
      <DataTable<ApiKey>
        label={texts.table}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        state={state}
        rowHeight={ROW_HEIGHT}
        selected={edited}
        onOpen={({ id }) => onEditing(id)}
        onEnd={onEnd}
        renderCompact={(key) => <CompactKey apiKey={key} onOpen={openKey} />}
        empty={<NoKeys level={level} isFiltered={filters.length > 0} create={create} />}
        footer={apiKeyWords.count(total)}
      />
      {isCreating && <CreateKeyDialog level={level} onClose={() => onCreating(false)} />}
      {edited !== undefined && (
        <EditKeyDrawer key={edited} id={edited} onClose={() => onEditing(undefined)} />
      )}
      {open?.what === 'many' && <RevokeManyDialog keys={rows} total={total} onClose={() => setOpen(null)} />}
      {open?.what === 'revoke' && <RevokeDialog apiKey={open.key} onClose={() => setOpen(null)} />}
      {open?.what === 'rotate' && <RotateDialog apiKey={open.key} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function useKeys(level: KeyLevel, filters: readonly Filter[]) {
  const { workspace } = usePlace();
  const [type] = TYPES[level];
  const place = level === 'organization' ? { type } : { workspace_id: workspace.slug };
  const query = apiKeysQuery({ ...conditionsOf(filters), ...place });
  return useList(query, scopeOfKey(type ?? 'workspace-service', 'list'));
}

interface NoKeysProps {
  readonly level: KeyLevel;
  readonly isFiltered: boolean;
  readonly create: ReactNode;
}

/** A member of a workspace sees their own keys only, so others may exist. */
function NoKeys({ level, isFiltered, create }: NoKeysProps) {
  const may = useMay();
  const { empty, emptyText, emptyFiltered, emptyFilteredText, emptyOwn, emptyOwnText } = wordsOf(level);
  const seesAll = TYPES[level].some((type) => type !== 'workspace-user' && may(scopeOfKey(type, 'list')));
  const [title, text] = seesAll ? [empty, emptyText] : [emptyOwn, emptyOwnText];
  return (
    <EmptyState
      icon={<IconKey size={20} aria-hidden />}
      title={isFiltered ? emptyFiltered : title}
      text={isFiltered ? emptyFilteredText : text}
    >
      {!isFiltered && seesAll && create}
    </EmptyState>
  );
}

interface ActionProps {
  readonly level: KeyLevel;
  readonly onClick: () => void;
}

function RevokeManyButton({ level, isEmpty, onClick }: ActionProps & { isEmpty: boolean }) {
  return (
    <CanAny level={level} action="delete">
      <Button disabled={isEmpty} onClick={onClick}>
        {apiKeyWords.many.open}
      </Button>
    </CanAny>
  );
}

function CreateButton({ level, onClick }: ActionProps) {
  return (
    <CanAny level={level} action="create">
      <Button variant="filled" onClick={onClick}>
        {wordsOf(level).create}
      </Button>
    </CanAny>
  );
}

interface CanAnyProps extends Pick<ActionProps, 'level'> {
  readonly action: 'create' | 'delete';
  readonly children: ComponentProps<typeof Can>['children'];
}

/** For an action that one kind of key of the level is enough for. */
function CanAny({ level, action, children }: CanAnyProps) {
  const may = useMay();
  const scopes = TYPES[level].map((type) => scopeOfKey(type, action));
  return (
    <Can isAllowed={scopes.some(may)} scope={scopes[0] ?? ''}>
      {children}
    </Can>
  );
}

interface ColumnFacts {
  readonly me: string;
  /** Unknown until loaded. */
  readonly lastUse: LastUse;
}

type OnKey = (what: 'edit' | 'revoke' | 'rotate', key: ApiKey) => void;

/** Keys of the organization have neither an owner nor a budget. */
const ONLY_IN_WORKSPACES: ReadonlySet<string> = new Set(['owner', 'budget']);

const columnsOf = (open: OnKey, facts: ColumnFacts, level: KeyLevel): readonly Column<ApiKey>[] =>
  allColumns(open, facts).filter(({ key }) => level === 'workspace' || !ONLY_IN_WORKSPACES.has(key));

const allColumns = (open: OnKey, { me, lastUse }: ColumnFacts): readonly Column<ApiKey>[] => [
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
    cell: (key) => <LastUsed apiKey={key} at={lastUse.get(key.id)} />,
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

const WINDOW_MS = 30 * 86_400_000;

/** The use is known for 30 days: a key that is younger was never used at all. */
function LastUsed({ apiKey: { created_at }, at }: { apiKey: ApiKey; at: string | null | undefined }) {
  const now = useNow();
  if (at !== null) return <Moment at={at ?? null} />;
  const isYoung = now - Date.parse(created_at) < WINDOW_MS;
  return <Value isMuted>{isYoung ? apiKeyWords.neverUsed : apiKeyWords.unused}</Value>;
}

const ACTIONS = [
  { action: 'edit', permission: 'update', text: apiKeyWords.edit.open },
  { action: 'rotate', permission: 'rotate', text: apiKeyWords.rotate },
  { action: 'revoke', permission: 'delete', text: apiKeyWords.revoke },
] as const;

function KeyMenu({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: OnKey }) {
  const may = useMay();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${apiKey.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {ACTIONS.map(({ action, permission, text }) => {
          const scope = scopeOfKey(apiKey.type, permission);
          return (
            <Can key={action} isAllowed={may(scope)} scope={scope}>
              <Menu.Item
                color={action === 'revoke' ? 'red' : undefined}
                onClick={() => onOpen(action, apiKey)}
              >
                {text}
              </Menu.Item>
            </Can>
          );
        })}
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
