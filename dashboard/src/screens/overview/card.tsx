import type { CSSProperties, ReactNode } from 'react';
import type { LoadState } from '../../parts/states/load-state';
import { Loadable } from '../../parts/states/states';
import styles from './overview.module.css';

interface CardProps {
  readonly title: string;
  readonly note?: string | undefined;
  readonly action?: ReactNode;
  /** Width in twelfths. */
  readonly span: number;
  readonly isFigure?: boolean;
  readonly state: LoadState;
  readonly children: () => ReactNode;
}

/** One card of the board, with its own loading and error state. */
export function Card({ title, note, action, span, isFigure = false, state, children }: CardProps) {
  return (
    <section
      className={styles.card}
      style={{ '--span': span } as CSSProperties}
      data-figure={isFigure || undefined}
      aria-label={title}
    >
      <header className={styles.cardHead}>
        <h2>{title}</h2>
        {note && <small>{note}</small>}
        {action}
      </header>
      <Loadable state={state} lines={3}>
        {children}
      </Loadable>
    </section>
  );
}
