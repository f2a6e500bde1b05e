import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { createApiKey } from '../../api/keys';
import { useList } from '../../api/lists';
import { chatCommand } from '../../api/try-key';
import { virtualKeysQuery } from '../../api/virtual-keys';
import { shownError } from '../../api/load-state';
import { type LogRow, logsQuery } from '../../api/logs';
import { duration, short } from '../../parts/format/numbers';
import { ErrorCard } from '../../parts/states/states';
import { CopyButton } from '../../parts/values/identifier';
import { Money, StatusPill, toneOfStatus } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import { logWords } from '../../words/log';
import { words } from '../../words/en';
import styles from './set-up.module.css';

const texts = setUpWords.request;
const POLL_MS = 2_000;

/** A command that works when pasted, and its request once it is recorded. */
export function RequestStep({ onDone }: { onDone: () => void }) {
  const { workspace } = usePlace();
  const virtualKeys = useList(virtualKeysQuery(workspace.slug), 'virtual_keys.list');
  const creation = useMutation({
    mutationFn: () =>
      createApiKey('workspace/service', {
        name: 'first-request',
        workspace_id: workspace.id,
        scopes: ['completions.write'],
      }),
  });
  const command = chatCommand(creation.data?.key ?? texts.keyMissing, virtualKeys.rows[0]);
  return (
    <>
      <h1>{texts.title}</h1>
      <p className={styles.intro}>{texts.text}</p>
      <div className={`${styles.form ?? ''} ${styles.wide ?? ''}`}>
        <pre className={styles.code} aria-label={texts.snippets}>
          {command}
        </pre>
        <div className={styles.actions}>
          <CopyButton value={command} label={words.parts.copy} />
          {!creation.data && (
            <Button loading={creation.isPending} onClick={() => creation.mutate()}>
              {texts.createKey}
            </Button>
          )}
        </div>
        {creation.isError && (
          <ErrorCard error={shownError(creation.error)} title={words.errors.actionTitle} />
        )}
        <Arrival />
        <div className={styles.actions}>
          <Button variant="subtle" color="gray" onClick={onDone}>
            {setUpWords.skip}
          </Button>
          <Button variant="filled" onClick={onDone}>
            {setUpWords.go}
          </Button>
        </div>
      </div>
    </>
  );
}

function Arrival() {
  const { workspace } = usePlace();
  const [from] = useState(() => new Date().toISOString());
  // An end that the first request cannot miss: the page is not open for a day.
  const [to] = useState(() => new Date(Date.now() + 86_400_000).toISOString());
  const { data } = useInfiniteQuery({
    ...logsQuery({ workspace: workspace.slug, conditions: {}, time: { from, to } }),
    refetchInterval: POLL_MS,
  });
  const row = data?.pages[0]?.data.at(-1);
  return (
    <div className={styles.arrival} data-arrived={row ? true : undefined} role="status">
      {row ? <ArrivedRequest row={row} /> : texts.waiting}
    </div>
  );
}

function ArrivedRequest({ row }: { row: LogRow }) {
  const { workspace } = usePlace();
  const { facts } = logWords;
  return (
    <>
      <StatusPill tone={toneOfStatus(row.status)}>{row.status}</StatusPill> <strong>{texts.arrived}</strong>{' '}
      <Link to="/w/$workspace/logs/$id" params={{ workspace: workspace.slug, id: row.id }} search={{}}>
        {texts.openInLogs}
      </Link>
      <dl className={styles.facts}>
        <div>
          <dt>{words.logs.columns.model}</dt>
          <dd>{row.model}</dd>
        </div>
        <div>
          <dt>{facts.tokens}</dt>
          <dd>{`${short(row.input_tokens ?? 0)} → ${short(row.output_tokens ?? 0)}`}</dd>
        </div>
        <div>
          <dt>{facts.cost}</dt>
          <dd>
            <Money nano={row.cost_nano_usd} />
          </dd>
        </div>
        <div>
          <dt>{facts.latency}</dt>
          <dd>{duration(row.duration_ms)}</dd>
        </div>
      </dl>
    </>
  );
}
