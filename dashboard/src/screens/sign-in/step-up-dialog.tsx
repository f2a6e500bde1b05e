import { Button, Modal, PasswordInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { accountQuery } from '../../api/account';
import { stepUp } from '../../api/auth';
import { canUsePasskeys, stepUpWithPasskey } from '../../api/passkeys';
import { words } from '../../words/en';
import { CodeInput } from './code-input';
import { SignInProblem } from './sign-in-problem';
import styles from './step-up-dialog.module.css';

const texts = words.signIn.stepUp;

interface StepUpDialogProps {
  readonly onProved: () => void;
  readonly onClose: () => void;
}

/** Asks for what the person signs in with: password and code, or a passkey. */
export function StepUpDialog({ onProved, onClose }: StepUpDialogProps) {
  const { data } = useQuery(accountQuery);
  const methods = data?.sign_in_methods;
  const [form, setForm] = useState({ password: '', code: '' });
  const password = useMutation({
    mutationFn: () => stepUp({ password: form.password, code: form.code || undefined }),
    onSuccess: onProved,
    onError: () => setForm({ ...form, code: '' }),
  });
  const passkey = useMutation({ mutationFn: stepUpWithPasskey, onSuccess: onProved });
  const hasPasskey = canUsePasskeys() && (methods?.passkeys ?? 0) > 0;
  const error = password.error ?? passkey.error;
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.title}
      zIndex={400}
      closeButtonProps={{ 'aria-label': words.parts.close }}
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          password.mutate();
        }}
      >
        <p className={styles.text}>{texts.text}</p>
        {methods && !methods.password && !hasPasskey && <p>{texts.noMethod}</p>}
        {methods?.password && (
          <PasswordInput
            label={words.signIn.password}
            autoComplete="current-password"
            required
            withAsterisk={false}
            data-autofocus
            value={form.password}
            onChange={({ currentTarget }) => setForm({ ...form, password: currentTarget.value })}
          />
        )}
        {methods?.totp && <CodeInput value={form.code} onChange={(code) => setForm({ ...form, code })} />}
        {error && <SignInProblem error={error} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          {hasPasskey && (
            <Button loading={passkey.isPending} onClick={() => passkey.mutate()}>
              {texts.passkey}
            </Button>
          )}
          {methods?.password && (
            <Button type="submit" variant="filled" loading={password.isPending}>
              {texts.submit}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  );
}
