import { Button, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { deleteVirtualKey, type VirtualKey } from '../../api/virtual-keys';
import { shownError } from '../../api/load-state';
import { copyVirtualKey, testVirtualKey } from '../../api/virtual-keys';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { ErrorCard, Loading } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { virtualKeyWords } from '../../words/virtual-keys';
import { words } from '../../words/en';
import { Details, Outcome } from './credential-test-panel';
import styles from './virtual-key-dialog.module.css';

interface KeyDialogProps {
  readonly virtualKey: VirtualKey;
  readonly onClose: () => void;
}

export function RemoveDialog({ virtualKey, onClose }: KeyDialogProps) {
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
      title={virtualKeyWords.removeTitle(virtualKey.slug)}
      text={virtualKeyWords.removeText}
      name={virtualKey.slug}
      action={virtualKeyWords.remove}
      isRunning={removal.isPending}
      error={removal.isError ? shownError(removal.error) : null}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}

/** Tests the stored credential at once. */
export function TestDialog({ virtualKey, onClose }: KeyDialogProps) {
  const { mutate, ...test } = useMutation({ mutationFn: testVirtualKey });
  useEffect(() => mutate(virtualKey.slug), [mutate, virtualKey.slug]);
  return (
    <Dialog onClose={onClose} title={virtualKeyWords.test.title(virtualKey.slug)}>
      <div className={styles.form}>
        {test.data && (
          <div className={styles.test}>
            <p>
              <Outcome test={test.data} />
            </p>
            <Details test={test.data} />
          </div>
        )}
        {test.isError && <ErrorCard error={shownError(test.error)} title={words.errors.actionTitle} />}
        {!test.data && !test.isError && <Loading lines={2} />}
        <div className={styles.actions}>
          <Button loading={test.isPending} onClick={() => mutate(virtualKey.slug)}>
            {virtualKeyWords.test.again}
          </Button>
          <Button variant="filled" onClick={onClose}>
            {words.parts.close}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const texts = virtualKeyWords.copyDialog;

/** A virtual key with the same credential in another workspace. Its limits start at zero there. */
export function CopyDialog({ virtualKey, onClose }: KeyDialogProps) {
  const { session, workspace } = usePlace();
  const queryClient = useQueryClient();
  const targets = session.workspaces.filter(({ id }) => id !== workspace.id);
  const [target, setTarget] = useState(targets[0]?.id ?? '');
  const [slug, setSlug] = useState('');
  const copy = useMutation({
    mutationFn: () => copyVirtualKey(virtualKey.slug, { workspace_id: target, ...(slug !== '' && { slug }) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['virtual-keys'] }),
  });
  const name = targets.find(({ id }) => id === target)?.name ?? '';
  return (
    <Dialog isDirty={slug !== '' && !copy.data} onClose={onClose} title={texts.title(virtualKey.slug)}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (target !== '') copy.mutate();
        }}
      >
        <p className={styles.intro}>{targets.length === 0 ? texts.nowhere : texts.text}</p>
        {targets.length > 0 && (
          <>
            <Select
              label={texts.workspace}
              data={targets.map(({ id, name: label }) => ({ value: id, label }))}
              value={target}
              onChange={(id) => setTarget(id ?? '')}
            />
            <TextInput
              label={texts.slug}
              placeholder={texts.slugPlaceholder}
              value={slug}
              onChange={({ currentTarget }) => setSlug(currentTarget.value.trim())}
            />
          </>
        )}
        {copy.data && <p role="status">{texts.done(copy.data.data.slug, name)}</p>}
        {copy.isError && <ErrorCard error={shownError(copy.error)} title={words.errors.actionTitle} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{copy.data ? words.parts.close : words.parts.cancel}</Button>
          {!copy.data && (
            <Button type="submit" variant="filled" disabled={target === ''} loading={copy.isPending}>
              {texts.submit}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
