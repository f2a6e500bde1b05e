import { Checkbox } from '@mantine/core';
import { words } from '../../words/en';
import styles from './column-chooser.module.css';

export interface ColumnListProps {
  readonly columns: readonly { readonly key: string; readonly title: string }[];
  readonly shown: readonly string[];
  /** At least one column stays. */
  readonly onChange: (shown: readonly string[]) => void;
}

/** Checkboxes for the columns of a table, in the table's own order. */
export function ColumnList({ columns, shown, onChange }: ColumnListProps) {
  const toggle = (key: string): void => {
    const next = columns
      .map((column) => column.key)
      .filter((one) => (one === key ? !shown.includes(one) : shown.includes(one)));
    if (next.length > 0) onChange(next);
  };
  return (
    <div className={styles.list} role="group" aria-label={words.parts.columns}>
      {columns.map(({ key, title }) => (
        <Checkbox key={key} label={title} checked={shown.includes(key)} onChange={() => toggle(key)} />
      ))}
    </div>
  );
}
