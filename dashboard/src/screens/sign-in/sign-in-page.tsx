import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Navigate, useRouter } from '@tanstack/react-router';
import { type SyntheticEvent, useEffect, useState } from 'react';
import { signIn } from '../../api/auth';
import { ApiError } from '../../api/client';
import { shownError } from '../../api/load-state';
import { Brand } from '../../parts/brand';
import { ErrorCard } from '../../parts/states/states';
import { sessionQuery, useSession } from '../../session/session';
import { words } from '../../words/en';
import styles from './sign-in-page.module.css';

/** Only a path of the dashboard itself may follow: anything else would be an open redirect. */
const isOwnPath = (path: string | undefined): path is string => path?.startsWith('/ui/') === true;

/** E-mail and password. Goes on to where the person wanted to go. */
export function SignInPage({ returnTo }: { returnTo: string | undefined }) {
  const { data: session } = useSession();
  const { history } = useRouter();
  const isReturning = Boolean(session) && isOwnPath(returnTo);
  useEffect(() => {
    if (isReturning && isOwnPath(returnTo)) history.replace(returnTo);
  }, [isReturning, returnTo, history]);
  if (session) return isReturning ? null : <Navigate to="/" replace />;
  return (
    <main className={styles.page}>
      <Brand />
      <section className={styles.card}>
        <h1>{words.signIn.title}</h1>
        <p className={styles.host}>{location.host}</p>
        {!isSecureContext && <p className={styles.warning}>{words.signIn.insecure}</p>}
        <SignInForm />
      </section>
      <p className={styles.help}>
        {words.signIn.lockedOut} <code>{words.signIn.command}</code>
      </p>
    </main>
  );
}

function SignInForm() {
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({
    mutationFn: () => signIn({ email, password }),
    onSuccess: () => queryClient.refetchQueries(sessionQuery),
    onError: () => setPassword(''),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    attempt.mutate();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        label={words.signIn.email}
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <PasswordInput
        label={words.signIn.password}
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
      />
      {attempt.isError && <Problem error={attempt.error} />}
      <Button type="submit" variant="filled" size="sm" fullWidth loading={attempt.isPending}>
        {words.signIn.submit}
      </Button>
    </form>
  );
}

function Problem({ error }: { error: Error }) {
  const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 400);
  if (!isRefused) return <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />;
  return (
    <p className={styles.wrong} role="alert">
      {words.signIn.wrong}
    </p>
  );
}
