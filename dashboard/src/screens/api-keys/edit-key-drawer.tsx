import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { ApiError } from '../../api/client';
import { API_KEYS, apiKeyQuery, changeApiKey, type TaggedKey } from '../../api/keys';
import { loadStateOf } from '../../api/load-state';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { Can } from '../../parts/states/can';
import { EmptyState, Loadable } from '../../parts/states/states';
import { useMay } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { words } from '../../words/en';
import { Hint } from './create-key-dialog';
import { KeyFields } from './key-fields';
import { changeOf, formOf, isChangedFrom, type KeyForm, missingOf } from './key-form';
import styles from './key-form.module.css';
import { scopeOfKey } from './key-permission';
import { KeyPreview } from './key-preview';
import { RefusedSave, refusedFields } from './refused-save';

const texts = apiKeyWords.edit;

interface EditKeyDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Changes a key. It is read when the drawer opens, and saved only if nobody changed it since. */
export function EditKeyDrawer({ id, onClose }: EditKeyDrawerProps) {
  const query = useQuery(apiKeyQuery(id));
  // The state that is edited stays, also when the key is read again.
  const [opened, setOpened] = useState<TaggedKey | null>(null);
  const base = opened ?? query.data ?? null;
  if (base === null)
    return (
      <Dialog side="right" onClose={onClose} title={texts.title('')} size={920}>
        {query.error instanceof ApiError && query.error.status === 404 ? (
          <EmptyState title={texts.gone} text={texts.goneText} />
        ) : (
          <Loadable state={loadStateOf(query, 'workspace_service_api_keys.read')} lines={8}>
            {() => null}
          </Loadable>
        )}
      </Dialog>
    );
  return (
    <EditForm
      key={base.etag}
      base={base}
      onReload={async () => setOpened((await query.refetch()).data ?? null)}
      onClose={onClose}
    />
  );
}

interface EditFormProps {
  readonly base: TaggedKey;
  /** Begins anew with the saved key. */
  readonly onReload: () => Promise<void>;
  readonly onClose: () => void;
}

function EditForm({ base, onReload, onClose }: EditFormProps) {
  const { key } = base;
  const may = useMay();
  const queryClient = useQueryClient();
  const [before] = useState(() => formOf(key));
  const [form, setForm] = useState(before);
  const [openedAt] = useState(Date.now);
  const saving = useMutation({
    // Without the tag, the change applies to whatever is saved: it names only the fields that the user changed.
    mutationFn: ({ isForced }: { isForced: boolean }) =>
      changeApiKey(isForced ? { key, etag: null } : base, changeOf(form, before, openedAt)),
    onSuccess: async () => {
      onClose();
      await Promise.all(
        [API_KEYS, 'limits'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
      );
    },
  });
  const scope = scopeOfKey(key.type, 'update');
  const level = key.workspace_id === null ? 'organization' : 'workspace';
  const missing = missingOf(form);
  const isDirty = isChangedFrom(form, before);
  const isConflict = saving.error instanceof ApiError && saving.error.code === 'precondition_failed';
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (missing.length === 0 && isDirty) saving.mutate({ isForced: false });
  };
  return (
    <Dialog
      side="right"
      onClose={onClose}
      isDirty={isDirty}
      title={texts.title(key.name)}
      size={920}
      padding={0}
      classNames={{ header: styles.header }}
    >
      <form onSubmit={submit}>
        <p className={styles.intro}>
          <code>{key.key}</code>, {apiKeyWords.types[key.type]}
          {!may(scope) && `. ${words.parts.needsScope(scope)}`}
        </p>
        <div className={styles.columns}>
          <fieldset className={styles.plain} disabled={!may(scope)}>
            <div className={styles.fields}>
              <KeyFields
                form={form}
                level={level}
                stored={key}
                errors={refusedFields(saving.error)}
                onChange={(part: Partial<KeyForm>) => setForm({ ...form, ...part })}
              />
              {isConflict ? (
                <Conflict onReload={onReload} onForce={() => saving.mutate({ isForced: true })} />
              ) : (
                <RefusedSave error={saving.error} />
              )}
            </div>
          </fieldset>
          <KeyPreview form={form} level={level} openedAt={openedAt} expiresAt={key.expires_at} />
        </div>
        <footer className={styles.footer}>
          <Hint missing={missing} text={isDirty ? '' : texts.unchanged} />
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Can isAllowed={may(scope)} scope={scope}>
            <Button
              type="submit"
              variant="filled"
              disabled={may(scope) && (missing.length > 0 || !isDirty)}
              loading={saving.isPending}
            >
              {texts.submit}
            </Button>
          </Can>
        </footer>
      </form>
    </Dialog>
  );
}

function Conflict({ onReload, onForce }: { onReload: () => Promise<void>; onForce: () => void }) {
  return (
    <div className={styles.notice} role="alert">
      <p>{texts.conflict}</p>
      <Button onClick={() => void onReload()}>{texts.reload}</Button>
      <Button variant="filled" onClick={onForce}>
        {texts.force}
      </Button>
    </div>
  );
}
