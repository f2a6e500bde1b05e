import { ActionIcon, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { words } from '../../words/en';
import styles from './drawer.module.css';

interface DrawerProps {
  readonly label: string;
  readonly head: ReactNode;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  /** `[` and `]`: the previous and the next row of the list. */
  readonly onStep?: (step: -1 | 1) => void;
  readonly children: ReactNode;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable=true], [role=dialog][aria-modal=true]') !== null;

/** The details of a row beside the list, which stays usable. Escape closes it and restores the focus. */
export function Drawer({ label, head, actions, onClose, onStep, children }: DrawerProps) {
  const box = useRef<HTMLElement>(null);
  useReturningFocus(box);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.defaultPrevented) return;
      if (event.key === 'Escape') onClose();
      else if (event.key === '[') onStep?.(-1);
      else if (event.key === ']') onStep?.(1);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [onClose, onStep]);
  return (
    <aside ref={box} className={styles.drawer} role="dialog" aria-label={label} tabIndex={-1}>
      <header className={styles.head}>
        <div className={styles.title}>{head}</div>
        <div className={styles.actions}>
          {actions}
          <Tooltip label={words.parts.close}>
            <ActionIcon aria-label={words.parts.close} onClick={onClose}>
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
      </header>
      <div className={styles.body}>{children}</div>
    </aside>
  );
}

/** Takes the focus while open, and returns it to the row that opened it. */
function useReturningFocus(box: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [box]);
}
