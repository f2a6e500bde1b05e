import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { words } from '../../words/en';
import type { ShownError } from '../states/load-state';
import { ErrorCard } from '../states/states';
import { Dialog } from './dialog';
import dialog from './dialog-form.module.css';

interface ConfirmProps {
  readonly title: string;
  /** The consequences. */
  readonly text: ReactNode;
  /** A verb with its object, such as "Remove passkey". */
  readonly action: string;
  readonly isRunning: boolean;
  readonly error: ShownError | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks once before an action whose effect the user can undo by setting up anew. */
export function Confirm({ title, text, action, isRunning, error, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog onClose={onClose} title={title}>
      <div className={dialog.form}>
        <p className={dialog.text}>{text}</p>
        {error && <ErrorCard error={error} title={words.errors.actionTitle} />}
        <div className={dialog.actions}>
          <Button data-autofocus onClick={onClose}>
            {words.parts.cancel}
          </Button>
          <Button variant="filled" color="red" loading={isRunning} onClick={onConfirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
