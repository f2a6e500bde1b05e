import { Button, Checkbox, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { renderSVG } from 'uqr';
import { useMutation } from '../../../api/use-mutation';
import { Dialog } from '../../../parts/overlay/dialog';
import { ACCOUNT, beginTotp, confirmTotp, removeTotp, renewRecoveryCodes } from '../../../api/account';
import { saveFile } from '../../../parts/files/save-file';
import { CopyButton } from '../../../parts/values/identifier';
import { StatusPill } from '../../../parts/values/values';
import { accountWords } from '../../../words/account';
import { AccountConfirm } from './account-confirm';
import { SignInProblem } from '../sign-in-problem';
import section from '../../../parts/shell/section.module.css';
import styles from './account.module.css';
import { Section } from './section';

const texts = accountWords.totp;

/** The authenticator app and its recovery codes. Every change requires a step-up. */
export function TotpSection({ isOn, codesLeft }: { isOn: boolean; codesLeft: number }) {
  const queryClient = useQueryClient();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asked, setAsked] = useState<'renew' | 'remove' | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: [ACCOUNT] });
  const begin = useMutation({ mutationFn: beginTotp });
  const renew = useMutation({
    mutationFn: renewRecoveryCodes,
    onSuccess: (answer) => {
      setAsked(null);
      setCodes(answer.codes);
    },
  });
  const remove = useMutation({
    mutationFn: removeTotp,
    onSuccess: async () => {
      await refresh();
      setAsked(null);
    },
  });
  const close = (): void => {
    setCodes(null);
    void refresh();
  };
  const action = isOn ? (
    <StatusPill tone="success">{texts.on}</StatusPill>
  ) : (
    <Button loading={begin.isPending} onClick={() => begin.mutate()}>
      {texts.add}
    </Button>
  );
  return (
    <Section title={texts.title} text={texts.text} action={action} error={begin.error}>
      {isOn && (
        <div className={section.head}>
          <span>{texts.codesLeft(codesLeft)}</span>
          <span>
            <Button onClick={() => setAsked('renew')}>{texts.renew}</Button>{' '}
            <Button color="red" onClick={() => setAsked('remove')}>
              {texts.remove}
            </Button>
          </span>
        </div>
      )}
      {!isOn && begin.data && !codes && (
        <Enrolment
          secret={begin.data.secret}
          uri={begin.data.uri}
          onDone={(given) => {
            setCodes(given);
            begin.reset();
          }}
        />
      )}
      {asked && (
        <AccountConfirm
          title={texts[asked]}
          text={asked === 'renew' ? texts.renewText : texts.removeText}
          action={texts[asked]}
          doing={asked === 'renew' ? renew : remove}
          onClose={() => setAsked(null)}
        />
      )}
      {codes && <RecoveryCodes codes={codes} onClose={close} />}
    </Section>
  );
}

interface EnrolmentProps {
  readonly secret: string;
  readonly uri: string;
  readonly onDone: (codes: readonly string[]) => void;
}

function Enrolment({ secret, uri, onDone }: EnrolmentProps) {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => confirmTotp(code),
    onSuccess: (answer) => onDone(answer.codes),
    onError: () => setCode(''),
  });
  // Drawn here, so that the secret goes to no other server. An image in its own document runs no script.
  const qrCode = `data:image/svg+xml,${encodeURIComponent(renderSVG(uri))}`;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <p className={section.text}>{texts.scan}</p>
      <img className={styles.qr} src={qrCode} alt={texts.qr} />
      <p className={section.text}>
        {texts.key} <span className={styles.key}>{secret}</span>{' '}
        <CopyButton value={secret} label={texts.copyKey} />
      </p>
      <TextInput
        label={texts.code}
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\d{6}"
        required
        withAsterisk={false}
        value={code}
        onChange={({ currentTarget }) => setCode(currentTarget.value.replace(/\D/g, '').slice(0, 6))}
      />
      {confirm.error && <SignInProblem error={confirm.error} />}
      <div>
        <Button type="submit" variant="filled" loading={confirm.isPending}>
          {texts.confirm}
        </Button>
      </div>
    </form>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog onClose={() => undefined} withCloseButton={false} title={texts.codesTitle}>
      <div className={section.page}>
        <p className={section.text}>{texts.codesText}</p>
        <div className={styles.codes}>
          {codes.map((code) => (
            <span key={code}>{code}</span>
          ))}
        </div>
        <div className={styles.keep}>
          <CopyButton value={codes.join('\n')} label={texts.copyCodes} />
          <Button
            onClick={() => saveFile(new Blob([`${codes.join('\n')}\n`]), 'gatehouse-recovery-codes.txt')}
          >
            {texts.downloadCodes}
          </Button>
        </div>
        <Checkbox
          label={texts.stored}
          checked={isStored}
          onChange={({ currentTarget }) => setStored(currentTarget.checked)}
        />
        <Button variant="filled" disabled={!isStored} onClick={onClose}>
          {texts.done}
        </Button>
      </div>
    </Dialog>
  );
}
