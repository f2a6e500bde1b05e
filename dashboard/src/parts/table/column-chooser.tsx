import { Button, Checkbox, Popover } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { words } from '../../words/en';
import styles from './column-chooser.module.css';

interface ColumnChooserProps {
  readonly columns: readonly { readonly key: string; readonly title: string }[];
  readonly shown: readonly string[];
  /** At least one column stays. */
  readonly onChange: (shown: readonly string[]) => void;
}

/** Ticks for the columns of a table, in the table's own order. */
export function ColumnChooser({ columns, shown, onChange }: ColumnChooserProps) {
  const toggle = (key: string): void => {
    const next = columns
      .map((column) => column.key)
      .filter((one) => (one === key ? !shown.includes(one) : shown.includes(one)));
    if (next.length > 0) onChange(next);
  };
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button className={styles.button} leftSection={<IconColumns3 size={16} aria-hidden />}>
          {words.parts.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className={styles.list} role="group" aria-label={words.parts.columns}>
          {columns.map(({ key, title }) => (
            <Checkbox key={key} label={title} checked={shown.includes(key)} onChange={() => toggle(key)} />
          ))}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
