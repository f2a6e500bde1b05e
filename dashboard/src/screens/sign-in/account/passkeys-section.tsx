import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../../api/use-mutation';
import { ACCOUNT, passkeysQuery, removePasskey } from '../../../api/account';
import { loadStateOf, shownError } from '../../../api/load-state';
import { addPasskey, canUsePasskeys } from '../../../api/passkeys';
import section from '../../../parts/shell/section.module.css';
import { ErrorCard, Loadable } from '../../../parts/states/states';
import { Moment } from '../../../parts/values/values';
import { accountWords } from '../../../words/account';
import { words } from '../../../words/en';
import styles from './account.module.css';
import { AccountConfirm } from './account-confirm';
import { Section } from './section';

const texts = accountWords.passkeys;

export function PasskeysSection() {
  const queryClient = useQueryClient();
  const query = useQuery(passkeysQuery);
  const refresh = () => queryClient.invalidateQueries({ queryKey: [ACCOUNT] });
  const [removed, setRemoved] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const remove = useMutation({
    mutationFn: removePasskey,
    onSuccess: async () => {
      await refresh();
      setRemoved(null);
    },
  });
  const passkeys = query.data?.data ?? [];
  return (
    <Section title={texts.title} text={texts.text}>
      <Loadable state={loadStateOf(query, 'passkeys.list')} lines={2}>
        {() => (
          <ul className={section.list}>
            {passkeys.length === 0 && <li>{texts.none}</li>}
            {passkeys.map((passkey) => (
              <li key={passkey.id}>
                <span>
                  <strong>{passkey.name}</strong>{' '}
                  <span className={section.text}>
                    {texts.created} <Moment at={passkey.created_at} as="date" />
                    {', '}
                    {passkey.last_used_at ? texts.used : texts.never}{' '}
                    {passkey.last_used_at && <Moment at={passkey.last_used_at} />}
                  </span>
                </span>
                <Button aria-label={`${texts.remove}: ${passkey.name}`} onClick={() => setRemoved(passkey)}>
                  {texts.remove}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loadable>
      {canUsePasskeys() ? (
        <NewPasskey onAdded={refresh} />
      ) : (
        <p className={section.text}>{texts.unsupported}</p>
      )}
      {removed && (
        <AccountConfirm
          title={texts.removeTitle(removed.name)}
          text={texts.removeText}
          action={texts.remove}
          doing={{ ...remove, mutate: () => remove.mutate(removed.id) }}
          onClose={() => setRemoved(null)}
        />
      )}
    </Section>
  );
}

function NewPasskey({ onAdded }: { onAdded: () => Promise<void> }) {
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim()),
    onSuccess: async () => {
      setName('');
      await onAdded();
    },
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <TextInput
        label={texts.name}
        placeholder={texts.nameExample}
        required
        withAsterisk={false}
        maxLength={120}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {add.error && <PasskeyProblem error={add.error} />}
      <div>
        <Button type="submit" loading={add.isPending}>
          {texts.add}
        </Button>
      </div>
    </form>
  );
}

/** Why no passkey was added. The browser's own reasons are names of exceptions. */
function PasskeyProblem({ error }: { error: Error }) {
  if (!(error instanceof DOMException))
    return <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />;
  return (
    <p className={styles.failure} role="alert">
      {texts.failures[error.name] ?? texts.failed}
    </p>
  );
}
