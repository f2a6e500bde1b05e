import type { ReactNode } from 'react';
import { words } from '../../words/en';
import type { ShownError } from '../states/load-state';
import { ErrorCard } from '../states/states';
import styles from './section.module.css';

interface SectionProps {
  readonly title: string;
  readonly text?: string;
  /** Actions to the right of the title. */
  readonly action?: ReactNode;
  /** Why the last action failed. */
  readonly error?: ShownError | null;
  readonly children?: ReactNode;
}

/** One subject of a detail page. */
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
      {error && <ErrorCard error={error} title={words.errors.actionTitle} />}
      {children}
    </section>
  );
}
