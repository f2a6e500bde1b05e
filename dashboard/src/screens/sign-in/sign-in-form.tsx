import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconFingerprint } from '@tabler/icons-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { signIn } from '../../api/auth';
import { canUsePasskeys, signInWithPasskey } from '../../api/passkeys';
import { sessionQuery } from '../../session/session';
import { signInWords } from '../../words/sign-in';
import { CodeInput } from './code-input';
import styles from './sign-in-page.module.css';
import { asksForCode, SignInProblem } from './sign-in-problem';
import { SignOnChoices } from './sign-on-choices';

const texts = signInWords;

interface SignInFormProps {
  readonly returnTo: string | undefined;
  readonly isAfterRefusal?: boolean;
  /** Filled in. */
  readonly email?: string;
  readonly onSignedIn?: () => void;
}

/** Password first, then the code for users with an authenticator app. A passkey needs neither. */
export function SignInForm({ returnTo, isAfterRefusal = false, email = '', onSignedIn }: SignInFormProps) {
  const queryClient = useQueryClient();
  const [form, setForm] = useState({ email, password: '', code: '' });
  const [needsCode, setNeedsCode] = useState(false);
  const signedIn = async (): Promise<void> => {
    await queryClient.refetchQueries(sessionQuery);
    onSignedIn?.();
  };
  const attempt = useMutation({
    mutationFn: () => signIn({ ...form, code: needsCode ? form.code : undefined }),
    onSuccess: signedIn,
    onError: (error) => {
      if (asksForCode(error)) setNeedsCode(true);
      else setForm({ ...form, ...(needsCode ? { code: '' } : { password: '' }) });
    },
  });
  const passkey = useMutation({ mutationFn: signInWithPasskey, onSuccess: signedIn });
  const startOver = (): void => {
    setForm({ email, password: '', code: '' });
    setNeedsCode(false);
    attempt.reset();
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    attempt.mutate();
  };
  const error = attempt.error ?? passkey.error;
  return (
    <form className={styles.form} onSubmit={submit}>
      {needsCode ? (
        <CodeInput isFirst value={form.code} onChange={(code) => setForm({ ...form, code })} />
      ) : (
        <Password form={form} onChange={(part) => setForm({ ...form, ...part })}>
          <SignOnChoices email={form.email} returnTo={returnTo} isAfterRefusal={isAfterRefusal} />
        </Password>
      )}
      {error && !asksForCode(error) && <SignInProblem error={error} />}
      <Button type="submit" variant="filled" size="sm" fullWidth loading={attempt.isPending}>
        {texts.submit}
      </Button>
      {needsCode && <Button onClick={startOver}>{texts.back}</Button>}
      {!needsCode && canUsePasskeys() && (
        <Button
          size="sm"
          fullWidth
          leftSection={<IconFingerprint size={16} aria-hidden />}
          loading={passkey.isPending}
          onClick={() => passkey.mutate()}
        >
          {texts.passkey}
        </Button>
      )}
    </form>
  );
}

interface PasswordProps {
  readonly form: { readonly email: string; readonly password: string };
  readonly onChange: (part: { readonly email?: string; readonly password?: string }) => void;
  /** Between the address and the password. */
  readonly children: ReactNode;
}

function Password({ form, onChange, children }: PasswordProps) {
  return (
    <>
      <TextInput
        label={texts.email}
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        value={form.email}
        onChange={({ currentTarget }) => onChange({ email: currentTarget.value })}
      />
      {children}
      <PasswordInput
        label={texts.password}
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={form.password}
        onChange={({ currentTarget }) => onChange({ password: currentTarget.value })}
      />
    </>
  );
}
