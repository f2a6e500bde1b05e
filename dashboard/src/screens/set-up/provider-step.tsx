import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { createVirtualKey, type NewVirtualKey } from '../../api/keys';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { virtualKeyWords } from '../../words/virtual-keys';
import { setUpWords } from '../../words/set-up';
import { words } from '../../words/en';
import styles from './set-up.module.css';

const texts = setUpWords.provider;
const fields = virtualKeyWords.dialog;

/** Stores the first credential. If skipped, the sandbox responds. */
export function ProviderStep({ onDone }: { onDone: () => void }) {
  const { workspace } = usePlace();
  const [provider, setProvider] = useState('');
  const [secret, setSecret] = useState('');
  const creation = useMutation({
    mutationFn: () =>
      createVirtualKey({
        name: provider,
        provider: provider as NewVirtualKey['provider'],
        key: secret,
        workspace_id: workspace.id,
      }),
    onSuccess: onDone,
  });
  return (
    <>
      <h1>{texts.title}</h1>
      <p className={styles.intro}>{texts.text}</p>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <TextInput
          label={fields.provider}
          description={fields.providerHelp}
          required
          withAsterisk={false}
          autoComplete="off"
          value={provider}
          onChange={({ currentTarget }) => setProvider(currentTarget.value.trim())}
        />
        <PasswordInput
          label={fields.secret}
          required
          withAsterisk={false}
          autoComplete="off"
          value={secret}
          onChange={({ currentTarget }) => setSecret(currentTarget.value)}
        />
        {creation.isError && (
          <ErrorCard error={shownError(creation.error)} title={words.errors.actionTitle} />
        )}
        <div className={styles.actions}>
          <Button variant="subtle" color="gray" onClick={onDone}>
            {setUpWords.skip}
          </Button>
          <Button type="submit" variant="filled" loading={creation.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </>
  );
}
