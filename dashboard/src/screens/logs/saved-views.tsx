import { ActionIcon, Button, Checkbox, TextInput, Tooltip } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { IconDeviceFloppy, IconTrash } from '@tabler/icons-react';
import { type SubmitEvent, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { loadStateOf, shownError } from '../../api/load-state';
import {
  createLogView,
  deleteLogView,
  type LogView,
  logViewsQuery,
  updateLogView,
} from '../../api/log-views';
import { ErrorCard, Loadable } from '../../parts/states/states';
import { useMay, usePlace } from '../../session/session';
import { viewWords as texts } from '../../words/log-views';
import styles from './saved-views.module.css';
import type { LogSearch } from './use-log-list';

interface SavedViewsProps {
  readonly search: LogSearch;
  readonly onChoose: (search: LogSearch) => void;
}

/** The parts of the URL that a view stores. */
const contentOf = ({ filter = '', range = '', columns = '' }: LogSearch) => ({
  filter,
  range,
  columns: columns === '' ? [] : columns.split(','),
});

const searchOf = ({ filter, range, columns }: LogView, before: LogSearch): LogSearch => ({
  ...before,
  filter,
  range: range || before.range,
  columns: columns.join(','),
});

/** The user's own and shared views, and a form to save the current one. */
export function SavedViews({ search, onChoose }: SavedViewsProps) {
  const { workspace } = usePlace();
  const query = useQuery(logViewsQuery(workspace.slug));
  const [isSaving, setSaving] = useState(false);
  const views = query.data?.data ?? [];
  if (isSaving) return <SaveView search={search} onDone={() => setSaving(false)} />;
  return (
    <div className={styles.panel}>
      <Loadable state={loadStateOf(query, 'logs.list')} lines={3}>
        {() => (
          <>
            {views.length === 0 && (
              <p className={styles.none}>
                <strong>{texts.none}</strong>
                {texts.noneText}
              </p>
            )}
            <ViewGroup
              title={texts.own}
              views={views.filter(({ is_own }) => is_own)}
              {...{ search, onChoose }}
            />
            <ViewGroup
              title={texts.shared}
              views={views.filter(({ is_own }) => !is_own)}
              {...{ search, onChoose }}
            />
          </>
        )}
      </Loadable>
      <Button variant="filled" onClick={() => setSaving(true)}>
        {texts.save}
      </Button>
    </div>
  );
}

interface ViewGroupProps extends SavedViewsProps {
  readonly title: string;
  readonly views: readonly LogView[];
}

function ViewGroup({ title, views, search, onChoose }: ViewGroupProps) {
  if (views.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className={styles.title}>{title}</h3>
      <ul className={styles.views}>
        {views.map((view) => (
          <li key={view.id}>
            <button type="button" className={styles.view} onClick={() => onChoose(searchOf(view, search))}>
              {view.name}
              <span className={styles.filter}>{view.filter || view.range}</span>
            </button>
            <ViewActions view={view} search={search} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ViewActions({ view, search }: { view: LogView; search: LogSearch }) {
  const may = useMay();
  const queryClient = useQueryClient();
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: ['log-views'] });
  const update = useMutation({ mutationFn: () => updateLogView(view.id, contentOf(search)), onSuccess });
  const removal = useMutation({ mutationFn: () => deleteLogView(view.id), onSuccess });
  if (!view.is_own && !may('workspaces.update')) return null;
  const actions = [
    { label: texts.update(view.name), Icon: IconDeviceFloppy, mutation: update },
    { label: texts.remove(view.name), Icon: IconTrash, mutation: removal },
  ];
  return (
    <>
      {actions.map(({ label, Icon, mutation }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon aria-label={label} loading={mutation.isPending} onClick={() => mutation.mutate()}>
            <Icon size={16} />
          </ActionIcon>
        </Tooltip>
      ))}
    </>
  );
}

function SaveView({ search, onDone }: { search: LogSearch; onDone: () => void }) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const saving = useMutation({
    mutationFn: () =>
      createLogView({
        name: name.trim(),
        is_shared: isShared,
        workspace_id: workspace.slug,
        ...contentOf(search),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['log-views'] });
      onDone();
    },
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (name.trim()) saving.mutate();
  };
  return (
    <form className={styles.panel} onSubmit={submit}>
      <TextInput
        label={texts.name}
        value={name}
        maxLength={120}
        data-autofocus
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Checkbox
        label={texts.isShared}
        checked={isShared}
        onChange={({ currentTarget }) => setShared(currentTarget.checked)}
      />
      {saving.isError && <ErrorCard error={shownError(saving.error)} />}
      <div className={styles.buttons}>
        <Button onClick={onDone}>{texts.back}</Button>
        <Button type="submit" variant="filled" disabled={!name.trim()} loading={saving.isPending}>
          {texts.saveButton}
        </Button>
      </div>
    </form>
  );
}
