import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../../api/use-mutation';
import { ACCOUNT, changePassword } from '../../../api/account';
import { accountWords } from '../../../words/account';
import { CodeInput } from '../code-input';
import { SignInProblem } from '../sign-in-problem';
import styles from './account.module.css';
import { Section } from './section';

const texts = accountWords.password;
const EMPTY = { current: '', next: '', code: '' };

export function PasswordSection({ hasTotp }: { hasTotp: boolean }) {
  const queryClient = useQueryClient();
  const [form, setForm] = useState(EMPTY);
  const change = useMutation({
    mutationFn: () =>
      changePassword({
        current_password: form.current,
        new_password: form.next,
        ...(hasTotp && { code: form.code }),
      }),
    onSuccess: async () => {
      setForm(EMPTY);
      await queryClient.invalidateQueries({ queryKey: [ACCOUNT] });
    },
  });
  const field = (name: 'current' | 'next') => ({
    required: true,
    withAsterisk: false,
    value: form[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      setForm({ ...form, [name]: currentTarget.value }),
  });
  return (
    <Section title={texts.title} text={texts.text}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <PasswordInput label={texts.current} autoComplete="current-password" {...field('current')} />
        <PasswordInput
          label={texts.next}
          description={texts.nextHelp}
          autoComplete="new-password"
          minLength={12}
          maxLength={200}
          {...field('next')}
        />
        {hasTotp && <CodeInput value={form.code} onChange={(code) => setForm({ ...form, code })} />}
        {change.error && <SignInProblem error={change.error} />}
        {change.isSuccess && <p role="status">{texts.done}</p>}
        <div>
          <Button type="submit" loading={change.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Section>
  );
}
