import { Button, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { invite } from '../../api/invites';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import { words } from '../../words/en';
import styles from './set-up.module.css';

const texts = setUpWords.team;

/** Invites others. Invites sent before a failure stay sent, and are removed from the list. */
export function TeamStep({ onDone }: { onDone: () => void }) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [sent, setSent] = useState(0);
  const sending = useMutation({
    mutationFn: async () => {
      const emails = [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
      for (const [at, email] of emails.entries()) {
        await invite(email, workspace.id);
        setSent((count) => count + 1);
        setText(emails.slice(at + 1).join('\n'));
      }
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
        {sent > 0 && <p role="status">{texts.sent(sent)}</p>}
        {sending.isError && <ErrorCard error={shownError(sending.error)} title={words.errors.actionTitle} />}
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
