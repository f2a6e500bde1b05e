import type { ReactNode } from 'react';
import styles from './compact-row.module.css';

interface CompactRowProps {
  readonly title: ReactNode;
  readonly end?: ReactNode;
  readonly details: readonly ReactNode[];
  readonly note?: ReactNode;
}

/** A row of a table on a narrow screen: its name, and its details below. */
export function CompactRow({ title, end, details, note }: CompactRowProps) {
  return (
    <span className={styles.row}>
      <span className={styles.title}>{title}</span>
      <span className={styles.end}>{end}</span>
      <span className={styles.details}>
        {details.filter(Boolean).map((detail, at) => (
          <span key={at}>{detail}</span>
        ))}
      </span>
      <span className={styles.end}>{note}</span>
    </span>
  );
}
