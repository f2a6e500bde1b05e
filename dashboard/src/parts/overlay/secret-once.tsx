import { Button, Checkbox } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { useState } from 'react';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import { CopyButton } from '../values/identifier';
import styles from './secret-once.module.css';

interface SecretOnceProps {
  readonly secret: string;
  /** A command that tries the secret. */
  readonly command?: string | undefined;
  readonly onDone: () => void;
}

/** A secret that is shown only once. The user can continue after confirming that they have stored it. */
export function SecretOnce({ secret, command, onDone }: SecretOnceProps) {
  const [isStored, setStored] = useState(false);
  return (
    <div className={styles.secret}>
      <p className={styles.text}>
        <IconEyeOff size={16} aria-hidden /> {dialogWords.secret.text}
      </p>
      <div className={styles.value}>
        <code>{secret}</code>
        <CopyButton value={secret} label={words.parts.copy} />
      </div>
      {command !== undefined && (
        <div className={styles.command}>
          <strong>{dialogWords.secret.try}</strong>
          <CopyButton value={command} label={dialogWords.secret.copyCommand} />
          <pre aria-label={dialogWords.secret.try} tabIndex={0}>
            {command}
          </pre>
        </div>
      )}
      <div className={styles.end}>
        <Checkbox
          label={dialogWords.secret.stored}
          checked={isStored}
          onChange={() => setStored(!isStored)}
        />
        <Button variant="filled" disabled={!isStored} onClick={onDone}>
          {dialogWords.secret.done}
        </Button>
      </div>
    </div>
  );
}
