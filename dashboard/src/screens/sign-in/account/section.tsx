import type { ReactNode } from 'react';
import { shownError } from '../../../api/load-state';
import { ErrorCard } from '../../../parts/states/states';
import { words } from '../../../words/en';
import styles from './account.module.css';

interface SectionProps {
  readonly title: string;
  readonly text?: string;
  /** What can be done, at the right of the title. */
  readonly action?: ReactNode;
  /** Why the last action was not done. */
  readonly error?: Error | null;
  readonly children?: ReactNode;
}

/** One subject of the account. */
export function Section({ title, text, action, error, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <div>
          <h2>{title}</h2>
          {text && <p className={styles.text}>{text}</p>}
        </div>
        {action}
      </div>
      {error && !(error instanceof DOMException) && (
        <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />
      )}
      {children}
    </section>
  );
}
