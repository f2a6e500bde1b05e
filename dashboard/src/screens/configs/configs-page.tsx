import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconRoute2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, type SubmitEvent, useCallback, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { type ConfigRow, configsQuery, createConfig } from '../../api/configs';
import { useList } from '../../api/lists';
import { shownError } from '../../api/load-state';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState, ErrorCard } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Moment, StatusPill, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { configWords as texts } from '../../words/configs';
import { words } from '../../words/en';
import styles from './configs.module.css';

interface ConfigsPageProps {
  readonly isCreating: boolean;
  readonly onCreating: (isOpen: boolean) => void;
  readonly onOpen: (slug: string) => void;
}

/** The routing configs of a workspace. */
export function ConfigsPage({ isCreating, onCreating, onOpen }: ConfigsPageProps) {
  const { workspace } = usePlace();
  const may = useMay();
  const list = useList(configsQuery(workspace.slug), 'configs.list');
  const renderLink = useCallback(
    ({ slug }: ConfigRow, content: ReactNode) => (
      <Link
        to="/w/$workspace/configs/$slug"
        params={{ workspace: workspace.slug, slug }}
        search={{}}
        tabIndex={-1}
        data-row-link
      >
        {content}
      </Link>
    ),
    [workspace.slug],
  );
  const create = (
    <Can isAllowed={may('configs.create')} scope="configs.create">
      <Button variant="filled" onClick={() => onCreating(true)}>
        {texts.create}
      </Button>
    </Can>
  );
  return (
    <Page title={texts.title} text={texts.text} isTable action={create}>
      <DataTable<ConfigRow>
        label={texts.table}
        columns={COLUMNS}
        rows={list.rows}
        keyOf={({ slug }) => slug}
        state={list.state}
        onEnd={list.onEnd}
        onOpen={({ slug }) => onOpen(slug)}
        renderLink={renderLink}
        renderCompact={(row) => (
          <CompactRow title={row.name} end={<Status config={row} />} details={[row.slug]} />
        )}
        empty={
          <EmptyState icon={<IconRoute2 size={20} aria-hidden />} title={texts.empty} text={texts.emptyText}>
            {create}
          </EmptyState>
        }
        footer={texts.count(list.total)}
      />
      {isCreating && <CreateDialog onCreated={onOpen} onClose={() => onCreating(false)} />}
    </Page>
  );
}

function Status({ config: { status, is_default } }: { config: ConfigRow }) {
  return (
    <>
      <StatusPill tone={status === 'active' ? 'success' : 'neutral'}>{texts.statuses[status]}</StatusPill>
      {is_default === 1 && <StatusPill tone="accent">{texts.isDefault}</StatusPill>}
    </>
  );
}

const COLUMNS: readonly Column<ConfigRow>[] = [
  {
    key: 'name',
    title: texts.columns.name,
    width: 'minmax(140px, 1.4fr)',
    cell: ({ name }) => <Value>{name}</Value>,
  },
  {
    key: 'slug',
    title: texts.columns.slug,
    width: 'minmax(120px, 1fr)',
    cell: ({ slug }) => <Value isMuted>{slug}</Value>,
  },
  {
    key: 'status',
    title: texts.columns.status,
    width: '160px',
    cell: (row) => (
      <span className={styles.pills}>
        <Status config={row} />
      </span>
    ),
  },
  {
    key: 'updated',
    title: texts.columns.updated,
    width: '140px',
    cell: ({ last_updated_at }) => <Moment at={last_updated_at} as="moment" />,
  },
];

/** Valid without a target: requests that name it set their target in headers. */
const BEGINNING = { retry: { attempts: 2 } };

function CreateDialog({ onCreated, onClose }: { onCreated: (slug: string) => void; onClose: () => void }) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const creation = useMutation({
    mutationFn: () => createConfig(workspace.slug, name.trim(), BEGINNING),
    onSuccess: async (slug) => {
      await queryClient.invalidateQueries({ queryKey: ['configs'] });
      onCreated(slug);
    },
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (name.trim()) creation.mutate();
  };
  return (
    <Dialog isDirty={name !== ''} onClose={onClose} title={texts.create}>
      <form className={styles.form} onSubmit={submit}>
        <p>{texts.createText}</p>
        <TextInput
          label={texts.name}
          value={name}
          maxLength={120}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        {creation.isError && <ErrorCard error={shownError(creation.error)} />}
        <div className={styles.buttons}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" loading={creation.isPending}>
            {texts.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
