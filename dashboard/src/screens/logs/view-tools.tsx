import { Button, Popover } from '@mantine/core';
import { IconBookmark, IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { LogQuery } from '../../api/logs';
import { Can } from '../../parts/states/can';
import { useMay } from '../../session/session';
import { words } from '../../words/en';
import styles from './logs.module.css';
import type { LogSearch } from './use-log-list';

/** Most visits open neither. */
const SavedViews = lazy(() => import('./saved-views').then((module) => ({ default: module.SavedViews })));
const ExportDialog = lazy(() =>
  import('./export-dialog').then((module) => ({ default: module.ExportDialog })),
);

interface SavedViewsButtonProps {
  readonly search: LogSearch;
  readonly onSearch: (search: LogSearch) => void;
}

export function SavedViewsButton({ search, onSearch }: SavedViewsButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      shadow="md"
      width={320}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          className={styles.tool}
          leftSection={<IconBookmark size={16} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          {words.logs.savedViews}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={null}>
          <SavedViews
            search={search}
            onChoose={(chosen) => {
              setOpen(false);
              onSearch(chosen);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}

export function ExportButton({ query }: { query: LogQuery }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  return (
    <>
      <Can isAllowed={may('logs.export')} scope="logs.export">
        <Button
          className={styles.tool}
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => setOpen(true)}
        >
          {words.logs.export}
        </Button>
      </Can>
      {isOpen && (
        <Suspense fallback={null}>
          <ExportDialog query={query} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
