import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import type { ShownError } from '../states/load-state';
import { ErrorCard } from '../states/states';
import dialog from './dialog-form.module.css';

interface ConfirmByNameProps {
  readonly title: string;
  /** The consequences. */
  readonly text: ReactNode;
  readonly name: string;
  /** A verb with its object, such as "Revoke key". */
  readonly action: string;
  readonly isRunning: boolean;
  readonly error: ShownError | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** For actions that cannot be undone: the name has to be typed. */
export function ConfirmByName(props: ConfirmByNameProps) {
  const { title, text, name, action, isRunning, error, onConfirm, onClose } = props;
  const [typed, setTyped] = useState('');
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        className={dialog.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) onConfirm();
        }}
      >
        <div className={dialog.text}>{text}</div>
        <TextInput
          label={dialogWords.confirm.type(name)}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        {error && <ErrorCard error={error} title={words.errors.actionTitle} />}
        <div className={dialog.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" color="red" disabled={typed !== name} loading={isRunning}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
