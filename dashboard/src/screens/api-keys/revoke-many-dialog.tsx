import { Button, Checkbox, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { type ApiKey, revokeApiKeys } from '../../api/keys';
import { shownError } from '../../api/load-state';
import { exact } from '../../parts/format/numbers';
import { ErrorCard } from '../../parts/states/states';
import { apiKeyWords } from '../../words/api-keys';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import dialog from '../../parts/overlay/dialog-form.module.css';
import styles from './revoke-many-dialog.module.css';

const texts = apiKeyWords.many;

interface RevokeManyDialogProps {
  readonly keys: readonly ApiKey[];
  /** Of the list, loaded or not. */
  readonly total: number;
  readonly onClose: () => void;
}

/** Revokes the selected keys together: all of them, or none if one may not be revoked. */
export function RevokeManyDialog({ keys, total, onClose }: RevokeManyDialogProps) {
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [typed, setTyped] = useState('');
  const revocation = useMutation({
    mutationFn: () => revokeApiKeys([...chosen]),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
      onClose();
    },
  });
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const word = String(chosen.size);
  const isConfirmed = chosen.size > 0 && typed === word;
  return (
    <Dialog onClose={onClose} title={texts.title}>
      <form
        className={dialog.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed) revocation.mutate();
        }}
      >
        <p className={dialog.text}>{texts.text}</p>
        {keys.length < total && (
          <p className={dialog.text}>{texts.partial(exact(keys.length), exact(total))}</p>
        )}
        <fieldset className={styles.choices} aria-label={texts.choose}>
          {keys.map(({ id, name, key }) => (
            <Checkbox
              key={id}
              label={`${name} ${key}`}
              checked={chosen.has(id)}
              onChange={() => toggle(id)}
            />
          ))}
        </fieldset>
        {chosen.size > 0 && (
          <TextInput
            label={dialogWords.confirm.type(word)}
            value={typed}
            autoComplete="off"
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
        {revocation.isError && (
          <ErrorCard error={shownError(revocation.error)} title={words.errors.actionTitle} />
        )}
        <div className={dialog.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button
            type="submit"
            variant="filled"
            color="red"
            disabled={!isConfirmed}
            loading={revocation.isPending}
          >
            {texts.submit(chosen.size)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
