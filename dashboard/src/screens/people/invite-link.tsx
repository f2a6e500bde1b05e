import { Button } from '@mantine/core';
import { CopyButton } from '../../parts/values/identifier';
import { peopleWords } from '../../words/people';
import dialog from '../../parts/overlay/dialog-form.module.css';
import styles from './people.module.css';

const texts = peopleWords.invite;

/** If mail is configured, only the user receives the link. */
export function InviteLink({ link, onDone }: { link: string | null; onDone: () => void }) {
  return (
    <div className={dialog.form}>
      <p className={dialog.text}>{link === null ? texts.mailed : texts.link}</p>
      {link !== null && (
        <p>
          <span className={styles.link}>{link}</span> <CopyButton value={link} label={texts.copy} />
        </p>
      )}
      <div className={dialog.actions}>
        <Button variant="filled" onClick={onDone}>
          {texts.done}
        </Button>
      </div>
    </div>
  );
}
