import { Button, PasswordInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { accountQuery } from '../../api/account';
import { stepUp } from '../../api/auth';
import { canUsePasskeys, stepUpWithPasskey } from '../../api/passkeys';
import { reauthenticationAddress } from '../../api/single-sign-on';
import { signInWords } from '../../words/sign-in';
import { singleSignOnWords } from '../../words/single-sign-on';
import { words } from '../../words/en';
import { CodeInput } from './code-input';
import { SignInProblem } from './sign-in-problem';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = signInWords.stepUp;

interface StepUpProps {
  readonly onProved: () => void;
  readonly onClose: () => void;
}

/** Asks for the same proof as the sign-in: password and code, a passkey, or the identity provider. */
export function StepUpDialog({ onProved, onClose }: StepUpProps) {
  const { data } = useQuery(accountQuery);
  return (
    <Dialog onClose={onClose} title={texts.title} zIndex={400}>
      <div className={dialog.form}>
        <p className={dialog.text}>{texts.text}</p>
        {data?.identity_provider && <ProviderProof provider={data.identity_provider} />}
        {data && !data.identity_provider && (
          <Proofs methods={data.sign_in_methods} onProved={onProved} onClose={onClose} />
        )}
      </div>
    </Dialog>
  );
}

interface ProofsProps extends StepUpProps {
  readonly methods: {
    readonly password: boolean;
    readonly totp: boolean;
    readonly passkeys: number;
  };
}

function Proofs({ methods, onProved, onClose }: ProofsProps) {
  const hasPasskey = canUsePasskeys() && methods.passkeys > 0;
  if (!methods.password && !hasPasskey) return <p>{texts.noMethod}</p>;
  return (
    <>
      {hasPasskey && <PasskeyProof onProved={onProved} />}
      {methods.password && <PasswordProof asksForCode={methods.totp} onProved={onProved} onClose={onClose} />}
    </>
  );
}

/** The session came from an identity provider, so the proof does, too. */
function ProviderProof({ provider }: { provider: { readonly id: string; readonly name: string } }) {
  return (
    <>
      <p className={dialog.text}>{singleSignOnWords.stepUpText(provider.name)}</p>
      <Button component="a" href={reauthenticationAddress(provider.id)} variant="filled">
        {singleSignOnWords.continueWith(provider.name)}
      </Button>
    </>
  );
}

function PasskeyProof({ onProved }: Pick<StepUpProps, 'onProved'>) {
  const proof = useMutation({ mutationFn: stepUpWithPasskey, onSuccess: onProved });
  return (
    <>
      <Button loading={proof.isPending} onClick={() => proof.mutate()}>
        {texts.passkey}
      </Button>
      {proof.error && <SignInProblem error={proof.error} />}
    </>
  );
}

function PasswordProof({ asksForCode, onProved, onClose }: StepUpProps & { readonly asksForCode: boolean }) {
  const [form, setForm] = useState({ password: '', code: '' });
  const proof = useMutation({
    mutationFn: () => stepUp({ password: form.password, ...(asksForCode && { code: form.code }) }),
    onSuccess: onProved,
    onError: () => setForm({ ...form, code: '' }),
  });
  return (
    <form
      className={dialog.form}
      onSubmit={(event) => {
        event.preventDefault();
        proof.mutate();
      }}
    >
      <PasswordInput
        label={signInWords.password}
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus
        value={form.password}
        onChange={({ currentTarget }) => setForm({ ...form, password: currentTarget.value })}
      />
      {asksForCode && <CodeInput value={form.code} onChange={(code) => setForm({ ...form, code })} />}
      {proof.error && <SignInProblem error={proof.error} />}
      <div className={dialog.actions}>
        <Button onClick={onClose}>{words.parts.cancel}</Button>
        <Button type="submit" variant="filled" loading={proof.isPending}>
          {texts.submit}
        </Button>
      </div>
    </form>
  );
}
