import { Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { shownError } from '../../api/load-state';
import {
  type ExportField,
  type ExportFormat,
  exportRestrictionsQuery,
  type LogExport,
  logExportLink,
  logExportQuery,
  startLogExport,
  stopLogExport,
} from '../../api/log-exports';
import { type LogQuery, timeConditions } from '../../api/logs';
import { bytes, exact } from '../../parts/format/numbers';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { words } from '../../words/en';
import { exportWords as texts } from '../../words/log-views';
import styles from './saved-views.module.css';

const USUAL: readonly ExportField[] = [
  'id',
  'created_at',
  'response_status_code',
  'ai_org',
  'ai_model',
  'virtual_key',
  'req_units',
  'res_units',
  'cost',
  'response_time',
  'trace_id',
  'metadata',
];
const ALL: readonly ExportField[] = [...USUAL, 'request', 'response'];
const FIELDS = { shown: USUAL, all: ALL } as const;

interface ExportDialogProps {
  readonly query: LogQuery;
  readonly onClose: () => void;
}

/** Exports the displayed requests: with the same filters and range. */
export function ExportDialog({ query, onClose }: ExportDialogProps) {
  const [id, setId] = useState<string | null>(null);
  return (
    <Dialog onClose={onClose} title={texts.title}>
      {id === null ? <ExportForm query={query} onStarted={setId} /> : <ExportProgress id={id} />}
    </Dialog>
  );
}

function ExportForm({ query, onStarted }: { query: LogQuery; onStarted: (id: string) => void }) {
  const { workspace } = usePlace();
  const restrictions = useQuery(exportRestrictionsQuery);
  const [format, setFormat] = useState<ExportFormat>('jsonl');
  const [choice, setChoice] = useState<keyof typeof FIELDS>('shown');
  const denied = restrictions.data?.deniedFields ?? [];
  const start = useMutation({
    mutationFn: () =>
      startLogExport({
        workspace_id: workspace.slug,
        filters: { ...timeConditions(query.time), ...query.conditions },
        requested_data: FIELDS[choice].filter((field) => !denied.includes(field)),
        format,
      }),
    onSuccess: onStarted,
  });
  return (
    <div className={styles.panel}>
      <p>{texts.text}</p>
      <Select
        label={texts.format}
        data={Object.entries(texts.formats).map(([value, label]) => ({ value, label }))}
        value={format}
        onChange={(next) => setFormat((next as ExportFormat | null) ?? format)}
      />
      <Select
        label={texts.fields}
        description={texts.fieldsText}
        data={Object.entries(texts.fieldChoices).map(([value, label]) => ({ value, label }))}
        value={choice}
        onChange={(next) => setChoice((next as keyof typeof FIELDS | null) ?? choice)}
      />
      {start.isError && <ErrorCard error={shownError(start.error)} />}
      <div className={styles.buttons}>
        <Button
          variant="filled"
          loading={start.isPending}
          disabled={restrictions.isPending}
          onClick={() => start.mutate()}
        >
          {texts.start}
        </Button>
      </div>
    </div>
  );
}

function ExportProgress({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(logExportQuery(id));
  const stop = useMutation({ mutationFn: () => stopLogExport(id), onSuccess: () => refetch() });
  const download = useMutation({
    mutationFn: () => logExportLink(id),
    onSuccess: (link) => location.assign(link),
  });
  if (error) return <ErrorCard error={shownError(error)} onRetry={() => void refetch()} />;
  const isDone = data?.status === 'success';
  return (
    <div className={styles.panel}>
      <p role="status">{data ? progressText(data) : words.parts.loading}</p>
      {download.isError && <ErrorCard error={shownError(download.error)} />}
      <div className={styles.buttons}>
        {data?.status === 'in_progress' && <Button onClick={() => stop.mutate()}>{texts.stop}</Button>}
        {isDone && (
          <Button variant="filled" loading={download.isPending} onClick={() => download.mutate()}>
            {texts.download}
          </Button>
        )}
      </div>
    </div>
  );
}

function progressText({ status, exported_rows, exported_bytes, problem }: LogExport): string {
  if (status === 'success') return texts.done(exact(exported_rows), bytes(exported_bytes));
  if (status === 'failed') return problem === null ? texts.failed : `${texts.failed}: ${problem}`;
  return status === 'stopped' ? texts.stopped : texts.inProgress(exact(exported_rows));
}
