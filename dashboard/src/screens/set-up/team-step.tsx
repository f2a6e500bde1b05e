import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { invite } from '../../api/invites';
import { CopyButton } from '../../parts/values/identifier';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import styles from './set-up.module.css';

const texts = setUpWords.team;

interface CreatedInvite {
  readonly email: string;
  /** Null if the user received it by mail. */
  readonly link: string | null;
}

interface FailedInvite {
  readonly email: string;
  readonly error: unknown;
}

/** Invites others. The addresses of created invites are removed from the field; those that were refused stay, each with its reason. */
export function TeamStep({ onDone }: { onDone: () => void }) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [created, setCreated] = useState<readonly CreatedInvite[]>([]);
  const [failed, setFailed] = useState<readonly FailedInvite[]>([]);
  const sending = useMutation({
    mutationFn: async () => {
      const emails = [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
      const refused: FailedInvite[] = [];
      for (const email of emails)
        try {
          const { invite_link: link } = await invite(email, workspace.id);
          setCreated((before) => [...before, { email, link }]);
        } catch (error) {
          refused.push({ email, error });
        }
      setFailed(refused);
      setText(refused.map(({ email }) => email).join('\n'));
    },
  });
  return (
    <>
      <h1>{texts.title}</h1>
      <p className={styles.intro}>{texts.text}</p>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          sending.mutate();
        }}
      >
        <Textarea
          label={texts.emails}
          rows={5}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        {created.length > 0 && <CreatedInvites invites={created} />}
        {failed.map(({ email, error }) => (
          <ErrorCard key={email} error={shownError(error)} title={texts.failed(email)} />
        ))}
        <div className={styles.actions}>
          <Button type="submit" disabled={text.trim() === ''} loading={sending.isPending}>
            {texts.submit}
          </Button>
          <Button variant="filled" onClick={onDone}>
            {setUpWords.finish}
          </Button>
        </div>
      </form>
    </>
  );
}

/** Without mail, these links are the only way in, so they stay until the user leaves the page. */
function CreatedInvites({ invites }: { invites: readonly CreatedInvite[] }) {
  return (
    <div role="status">
      <p>{texts.created(invites.length)}</p>
      {invites.some(({ link }) => link !== null) && <p>{texts.passOn}</p>}
      <ul className={styles.invites}>
        {invites.map(({ email, link }) => (
          <li key={email}>
            <strong>{email}</strong>
            {link === null ? (
              texts.mailed
            ) : (
              <>
                <code>{link}</code> <CopyButton value={link} label={texts.copyLink(email)} />
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
