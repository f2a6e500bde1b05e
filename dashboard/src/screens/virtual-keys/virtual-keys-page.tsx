import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconDots, IconPlugConnected } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import { limitsOf } from '../../api/keys';
import { useList } from '../../api/lists';
import {
  type KeyHealth,
  type VirtualKey,
  virtualKeyHealthQuery,
  virtualKeysQuery,
} from '../../api/virtual-keys';
import { duration, exact } from '../../parts/format/numbers';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LimitMeter } from '../../parts/values/limit-meter';
import { Moment, StatusPill, type Tone, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { virtualKeyWords } from '../../words/virtual-keys';
import { words } from '../../words/en';
import { CopyDialog, RemoveDialog, TestDialog } from './key-dialogs';
import { VirtualKeyDialog } from './virtual-key-dialog';
import styles from './virtual-keys-page.module.css';

const { columns: titles } = virtualKeyWords;
const { status: statuses } = apiKeyWords;
const TONES: Readonly<Record<VirtualKey['status'], Tone>> = {
  active: 'success',
  exhausted: 'error',
  expired: 'warning',
};
const ROW_HEIGHT = 44;

type Action = 'test' | 'copy' | 'remove';
interface OpenAction {
  readonly action: Action;
  readonly virtualKey: VirtualKey;
}

type OnAction = (action: Action | 'edit', key: VirtualKey) => void;

interface VirtualKeysPageProps {
  readonly isCreating: boolean;
  /** Slug of the virtual key being changed. */
  readonly edited: string | undefined;
  readonly onCreating: (isOpen: boolean) => void;
  readonly onEditing: (slug: string | undefined) => void;
}

/** Stored provider credentials with their limits. */
export function VirtualKeysPage({ isCreating, edited, onCreating, onEditing }: VirtualKeysPageProps) {
  const { workspace } = usePlace();
  const may = useMay();
  const list = useList(virtualKeysQuery(workspace.slug), 'virtual_keys.list');
  const health = useQuery({ ...virtualKeyHealthQuery(workspace.slug), enabled: may('analytics.view') });
  const [open, setOpen] = useState<OpenAction | null>(null);
  const act: OnAction = useCallback(
    (action, key) => (action === 'edit' ? onEditing(key.slug) : setOpen({ action, virtualKey: key })),
    [onEditing],
  );
  const columns = useMemo(() => columnsOf(act, health.data), [act, health.data]);
  const editedKey = list.rows.find(({ slug }) => slug === edited);
  const create = (
    <Can isAllowed={may('virtual_keys.create')} scope="virtual_keys.create">
      <Button variant="filled" onClick={() => onCreating(true)}>
        {virtualKeyWords.create}
      </Button>
    </Can>
  );
  return (
    <Page title={virtualKeyWords.title} text={virtualKeyWords.text} isTable action={create}>
      <DataTable<VirtualKey>
        label={virtualKeyWords.table}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        state={list.state}
        onEnd={list.onEnd}
        rowHeight={ROW_HEIGHT}
        renderCompact={(key) => (
          <CompactRow
            title={key.slug}
            end={<StatusPill tone={TONES[key.status]}>{statuses[key.status] ?? key.status}</StatusPill>}
            details={[key.provider]}
            note={<RowMenu virtualKey={key} onAction={act} />}
          />
        )}
        empty={
          <EmptyState
            icon={<IconPlugConnected size={20} aria-hidden />}
            title={virtualKeyWords.empty}
            text={virtualKeyWords.emptyText}
          >
            {create}
          </EmptyState>
        }
        footer={virtualKeyWords.count(list.total)}
      />
      {isCreating && <VirtualKeyDialog virtualKey={null} onClose={() => onCreating(false)} />}
      {editedKey && <VirtualKeyDialog virtualKey={editedKey} onClose={() => onEditing(undefined)} />}
      {open && <ActionDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

const DIALOGS = { test: TestDialog, copy: CopyDialog, remove: RemoveDialog } as const;

function ActionDialog({ action, virtualKey, onClose }: OpenAction & { onClose: () => void }) {
  const Dialog = DIALOGS[action];
  return <Dialog virtualKey={virtualKey} onClose={onClose} />;
}

const columnsOf = (
  onAction: OnAction,
  health: ReadonlyMap<string, KeyHealth> | undefined,
): readonly Column<VirtualKey>[] => [
  {
    key: 'slug',
    title: titles.slug,
    width: 'minmax(120px, 1.2fr)',
    cell: ({ slug }) => <Value>{slug}</Value>,
  },
  {
    key: 'name',
    title: titles.name,
    width: 'minmax(120px, 1.2fr)',
    cell: ({ name }) => <Value isMuted>{name}</Value>,
  },
  {
    key: 'provider',
    title: titles.provider,
    width: 'minmax(100px, 1fr)',
    cell: ({ provider }) => <Value isMuted>{provider}</Value>,
  },
  {
    key: 'status',
    title: titles.status,
    width: '90px',
    cell: ({ status }) => <StatusPill tone={TONES[status]}>{statuses[status] ?? status}</StatusPill>,
  },
  {
    key: 'health',
    title: titles.health,
    width: '130px',
    cell: ({ slug }) => <Health health={health?.get(slug)} isKnown={health !== undefined} />,
  },
  {
    key: 'budget',
    title: titles.budget,
    width: '190px',
    cell: (key) => <LimitMeter label={key.slug} limits={limitsOf(key)} />,
  },
  {
    key: 'expires',
    title: titles.expires,
    width: '110px',
    cell: ({ expires_at }) => <Moment at={expires_at} as="date" />,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (key) => <RowMenu virtualKey={key} onAction={onAction} />,
  },
];

/** The success rate; below 95 %, shown in colour and words. */
function Health({ health, isKnown }: { health: KeyHealth | undefined; isKnown: boolean }) {
  if (!isKnown) return <Value>{null}</Value>;
  if (!health || health.success_rate === null) return <Value isMuted>{virtualKeyWords.noRequests}</Value>;
  const rate = `${Number(health.success_rate.toFixed(1))} %`;
  return (
    <span className={styles.health} title={virtualKeyWords.health(rate, exact(health.requests))}>
      <StatusPill tone={toneOf(health.success_rate)}>{rate}</StatusPill>
      <span className={styles.latency}>{virtualKeyWords.latencyOf(duration(health.p50_latency))}</span>
    </span>
  );
}

function toneOf(rate: number): Tone {
  if (rate < 80) return 'error';
  return rate < 95 ? 'warning' : 'success';
}

const ACTIONS = [
  { action: 'edit', text: virtualKeyWords.edit, scope: 'virtual_keys.update' },
  { action: 'test', text: virtualKeyWords.test.run, scope: 'virtual_keys.update' },
  { action: 'copy', text: virtualKeyWords.copy, scope: 'virtual_keys.copy' },
  { action: 'remove', text: virtualKeyWords.remove, scope: 'virtual_keys.delete' },
] as const;

function RowMenu({ virtualKey, onAction }: { virtualKey: VirtualKey; onAction: OnAction }) {
  const may = useMay();
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${virtualKey.slug}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {ACTIONS.map(({ action, text, scope }) => (
          <Can key={action} isAllowed={may(scope)} scope={scope}>
            <Menu.Item
              color={action === 'remove' ? 'red' : undefined}
              onClick={() => onAction(action, virtualKey)}
            >
              {text}
            </Menu.Item>
          </Can>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
