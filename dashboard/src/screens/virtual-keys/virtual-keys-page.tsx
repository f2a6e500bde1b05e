import { ActionIcon, Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconDots, IconPlugConnected } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { deleteVirtualKey, limitsOf, type VirtualKey, virtualKeysQuery } from '../../api/keys';
import { loadStateOf, shownError } from '../../api/load-state';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LimitMeter } from '../../parts/values/limit-meter';
import { Moment, StatusPill, type Tone, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { words } from '../../words/en';
import { CreateVirtualKeyDialog } from './create-virtual-key-dialog';

const { columns: titles } = words.virtualKeys;
const { status: statuses } = words.apiKeys;
const TONES: Readonly<Record<VirtualKey['status'], Tone>> = {
  active: 'success',
  exhausted: 'error',
  expired: 'warning',
};
const ROW_HEIGHT = 44;

/** Stored provider credentials, with their limits. */
export function VirtualKeysPage({
  isCreating,
  onCreating,
}: {
  isCreating: boolean;
  onCreating: (isOpen: boolean) => void;
}) {
  const { workspace } = usePlace();
  const may = useMay();
  const query = useQuery(virtualKeysQuery(workspace.slug));
  const [removed, setRemoved] = useState<VirtualKey | null>(null);
  const columns = useMemo(() => columnsOf(setRemoved), []);
  const create = (
    <Can isAllowed={may('virtual_keys.create')} scope="virtual_keys.create">
      <Button variant="filled" onClick={() => onCreating(true)}>
        {words.virtualKeys.create}
      </Button>
    </Can>
  );
  return (
    <Page title={words.virtualKeys.title} text={words.virtualKeys.text} isTable action={create}>
      <DataTable<VirtualKey>
        label={words.virtualKeys.table}
        columns={columns}
        rows={query.data?.data ?? []}
        keyOf={({ id }) => id}
        state={loadStateOf(query, 'virtual_keys.list')}
        rowHeight={ROW_HEIGHT}
        renderCompact={({ slug, provider, status }) => (
          <CompactRow
            title={slug}
            end={<StatusPill tone={TONES[status]}>{statuses[status] ?? status}</StatusPill>}
            details={[provider]}
          />
        )}
        empty={
          <EmptyState
            icon={<IconPlugConnected size={20} aria-hidden />}
            title={words.virtualKeys.empty}
            text={words.virtualKeys.emptyText}
          >
            {create}
          </EmptyState>
        }
        footer={words.virtualKeys.count(query.data?.total ?? 0)}
      />
      {isCreating && <CreateVirtualKeyDialog onClose={() => onCreating(false)} />}
      {removed && <RemoveDialog virtualKey={removed} onClose={() => setRemoved(null)} />}
    </Page>
  );
}

const columnsOf = (onRemove: (key: VirtualKey) => void): readonly Column<VirtualKey>[] => [
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
    key: 'created',
    title: titles.created,
    width: '110px',
    cell: ({ created_at }) => <Moment at={created_at} as="date" />,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (key) => <RowMenu virtualKey={key} onRemove={onRemove} />,
  },
];

function RowMenu({ virtualKey, onRemove }: { virtualKey: VirtualKey; onRemove: (key: VirtualKey) => void }) {
  const may = useMay();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${virtualKey.slug}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item color="red" disabled={!may('virtual_keys.delete')} onClick={() => onRemove(virtualKey)}>
          {words.virtualKeys.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function RemoveDialog({ virtualKey, onClose }: { virtualKey: VirtualKey; onClose: () => void }) {
  const queryClient = useQueryClient();
  const removal = useMutation({
    mutationFn: () => deleteVirtualKey(virtualKey.slug),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['virtual-keys'] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={words.virtualKeys.removeTitle(virtualKey.slug)}
      text={words.virtualKeys.removeText}
      name={virtualKey.slug}
      action={words.virtualKeys.remove}
      isRunning={removal.isPending}
      error={removal.isError ? shownError(removal.error) : null}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}
