import { lazy, Suspense } from 'react';
import type { AuditRecord } from '../../api/audit';
import { Drawer } from '../../parts/overlay/drawer';
import { Loading } from '../../parts/states/states';
import { Identifier } from '../../parts/values/identifier';
import { Moment, StatusPill, toneOfStatus } from '../../parts/values/values';
import { auditWords } from '../../words/audit';
import styles from './audit-drawer.module.css';

/** The editor's library is large, and most records are never opened. */
const JsonDiff = lazy(() =>
  import('../../parts/json/json-diff').then((module) => ({ default: module.JsonDiff })),
);
const JsonEditor = lazy(() =>
  import('../../parts/json/json-editor').then((module) => ({ default: module.JsonEditor })),
);

interface AuditDrawerProps {
  readonly record: AuditRecord;
  readonly onClose: () => void;
  readonly onStep: (step: -1 | 1) => void;
}

/** One administrative action: its change, its actor and its origin. */
export function AuditDrawer({ record, onClose, onStep }: AuditDrawerProps) {
  return (
    <Drawer
      label={auditWords.label}
      onClose={onClose}
      onStep={onStep}
      head={
        <h2 className={styles.title}>
          <StatusPill tone={toneOfStatus(record.response_status_code)}>
            {record.response_status_code}
          </StatusPill>{' '}
          {record.method} {record.uri}
        </h2>
      }
    >
      <div className={styles.body}>
        <Facts record={record} />
        <Suspense fallback={<Loading lines={4} />}>
          <h3 className={styles.section}>{auditWords.changed}</h3>
          <Change record={record} />
          {record.request_body !== null && (
            <>
              <h3 className={styles.section}>{auditWords.body}</h3>
              <JsonEditor value={pretty(record.request_body)} label={auditWords.body} />
            </>
          )}
        </Suspense>
      </div>
    </Drawer>
  );
}

/** A created or removed resource has no other state to compare with. */
function Change({ record: { before, after } }: { record: AuditRecord }) {
  if (before !== null && after !== null) return <JsonDiff before={before} after={after} />;
  const value = after ?? before;
  if (value === null) return <p className={styles.none}>{auditWords.unchanged}</p>;
  return <JsonEditor value={JSON.stringify(value, null, 2)} label={auditWords.changed} />;
}

/** A recorded body is text, and usually JSON. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Facts({ record }: { record: AuditRecord }) {
  const { columns } = auditWords;
  const facts = [
    [columns.time, <Moment key="time" at={record.timestamp} as="moment" />],
    [columns.who, record.actor_name],
    [columns.ip, <code key="ip">{record.client_ip}</code>],
    [auditWords.target, record.target_id && <Identifier key="target" id={record.target_id} />],
    [auditWords.request, <Identifier key="request" id={record.request_id} />],
    [
      auditWords.record,
      <code key="record">{`#${record.seq} · ${record.hash.slice(0, 8)}…${record.hash.slice(-4)}`}</code>,
    ],
    [auditWords.error, record.error_code && <code key="error">{record.error_code}</code>],
  ] as const;
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
