import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { resetPassword } from '../../api/auth';
import { sessionQuery } from '../../session/session';
import { signInWords } from '../../words/sign-in';
import { CodeInput } from './code-input';
import { SignInFrame } from './sign-in-frame';
import styles from './sign-in-page.module.css';
import { asksForCode, SignInProblem } from './sign-in-problem';

const texts = signInWords.reset;
const MIN_PASSWORD = 12;

export const isResetToken = (token: string): boolean => token.startsWith('gw_reset_');

/** The target of a reset link. Users with an authenticator app also need its code. */
export function ResetPage({ token }: { token: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [form, setForm] = useState({ password: '', code: '' });
  const [needsCode, setNeedsCode] = useState(false);
  const attempt = useMutation({
    mutationFn: () =>
      resetPassword({ token, password: form.password, code: needsCode ? form.code : undefined }),
    onSuccess: async () => {
      queryClient.clear();
      await queryClient.query(sessionQuery);
      await navigate({ to: '/' });
    },
    onError: (error) => {
      if (asksForCode(error)) setNeedsCode(true);
    },
  });
  return (
    <SignInFrame title={texts.title} text={texts.text}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate();
        }}
      >
        <PasswordInput
          label={texts.password}
          description={texts.passwordHelp}
          autoComplete="new-password"
          minLength={MIN_PASSWORD}
          maxLength={200}
          required
          withAsterisk={false}
          autoFocus
          value={form.password}
          onChange={({ currentTarget }) => setForm({ ...form, password: currentTarget.value })}
        />
        {needsCode && <CodeInput isFirst value={form.code} onChange={(code) => setForm({ ...form, code })} />}
        {attempt.error && !asksForCode(attempt.error) && <SignInProblem error={attempt.error} />}
        <Button type="submit" variant="filled" size="sm" fullWidth loading={attempt.isPending}>
          {texts.submit}
        </Button>
      </form>
    </SignInFrame>
  );
}
