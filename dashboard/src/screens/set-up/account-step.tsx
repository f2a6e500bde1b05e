import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { setUp } from '../../api/auth';
import { shownError } from '../../api/load-state';
import { EmptyState, ErrorCard } from '../../parts/states/states';
import { sessionQuery } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import { words } from '../../words/en';
import styles from './set-up.module.css';

const texts = setUpWords.account;
const MIN_PASSWORD = 12;

/** Creates the owner's account with the one-use token of the set-up link. */
export function AccountStep({ token, onDone }: { token: string; onDone: () => void }) {
  if (token === '') return <EmptyState title={texts.noToken} text={texts.noTokenText} />;
  return (
    <>
      <h1>{texts.title}</h1>
      <p className={styles.intro}>{texts.text}</p>
      <AccountForm token={token} onDone={onDone} />
    </>
  );
}

function AccountForm({ token, onDone }: { token: string; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [form, setForm] = useState({ name: '', email: '', password: '' });
  const attempt = useMutation({
    mutationFn: () => setUp({ token, ...form }),
    onSuccess: async () => {
      await queryClient.refetchQueries(sessionQuery);
      onDone();
    },
  });
  const field = (name: keyof typeof form) => ({
    required: true,
    withAsterisk: false,
    value: form[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      setForm({ ...form, [name]: currentTarget.value }),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <TextInput label={texts.name} autoComplete="name" maxLength={120} autoFocus {...field('name')} />
      <TextInput label={texts.email} type="email" autoComplete="username" {...field('email')} />
      <PasswordInput
        label={texts.password}
        description={texts.passwordHelp}
        autoComplete="new-password"
        minLength={MIN_PASSWORD}
        maxLength={200}
        {...field('password')}
      />
      {attempt.isError && <ErrorCard error={shownError(attempt.error)} title={words.errors.actionTitle} />}
      <div className={styles.actions}>
        <Button type="submit" variant="filled" loading={attempt.isPending}>
          {texts.submit}
        </Button>
      </div>
    </form>
  );
}
