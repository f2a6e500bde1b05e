import { Button, Popover } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { words } from '../../words/en';
import styles from './column-chooser.module.css';
import type { ColumnListProps } from './column-list';

/** Most visits change no column. */
const ColumnList = lazy(() => import('./column-list').then((module) => ({ default: module.ColumnList })));

/** Chooses the columns of a table. */
export function ColumnChooser(props: ColumnListProps) {
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button className={styles.button} leftSection={<IconColumns3 size={16} aria-hidden />}>
          {words.parts.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={null}>
          <ColumnList {...props} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
