import { Button, Drawer, Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import styles from './dialog-form.module.css';

interface DialogProps extends Omit<ModalProps, 'opened'> {
  /** Whether closing would lose what the user entered: Escape, the backdrop and the cross then ask first. */
  readonly isDirty?: boolean;
  /** Fills the height at that side, for forms about a row of the page beneath. */
  readonly side?: 'right';
}

/** A modal dialog that is open while it is mounted. Closing it returns the focus to where it was before. */
export function Dialog({ isDirty = false, side, onClose, ...props }: DialogProps) {
  const [isAsking, setAsking] = useState(false);
  useReturnedFocus();
  const frame: ModalProps = {
    closeButtonProps: { 'aria-label': words.parts.close },
    ...props,
    opened: true,
    onClose: () => (isDirty ? setAsking(true) : onClose()),
    ...(isAsking && { closeOnEscape: false, trapFocus: false }),
  };
  return (
    <>
      <Frame side={side} {...frame} />
      {isAsking && (
        <Modal
          opened
          zIndex={300}
          onClose={() => setAsking(false)}
          title={dialogWords.discard.title}
          withCloseButton={false}
        >
          <div className={styles.form}>
            <div className={styles.actions}>
              <Button data-autofocus onClick={() => setAsking(false)}>
                {dialogWords.discard.keep}
              </Button>
              <Button variant="filled" onClick={onClose}>
                {dialogWords.discard.submit}
              </Button>
            </div>
          </div>
        </Modal>
      )}
    </>
  );
}

function Frame({ side, children, title, onClose, ...props }: ModalProps & Pick<DialogProps, 'side'>) {
  if (side === undefined)
    return (
      <Modal title={title} onClose={onClose} {...props}>
        {children}
      </Modal>
    );
  const { closeButtonProps, size, padding, closeOnEscape, trapFocus, classNames } = props;
  return (
    <Drawer
      position={side}
      {...{ opened: true, title, onClose, closeButtonProps, size, padding, closeOnEscape, trapFocus }}
      {...(classNames && { classNames: classNames as { header?: string } })}
    >
      {children}
    </Drawer>
  );
}

/** An item of a menu is gone once the menu is closed; its button is still there. */
function openerOf(focused: Element | null): Element | null {
  const menu = focused?.closest('[role=menu]');
  return menu?.id ? document.querySelector(`[aria-controls="${CSS.escape(menu.id)}"]`) : focused;
}

/** Mantine returns the focus only from a modal that stays mounted. */
function useReturnedFocus(): void {
  const [before] = useState(() => openerOf(document.activeElement));
  useEffect(
    () => () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
}
