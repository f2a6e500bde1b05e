import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { loadStateOf } from '../../../api/load-state';
import { type LogDetail, traceQuery } from '../../../api/logs';
import { duration } from '../../../parts/format/numbers';
import { Loadable } from '../../../parts/states/states';
import { StatusPill, toneOfStatus } from '../../../parts/values/values';
import { usePlace } from '../../../session/session';
import { logWords } from '../../../words/log';
import styles from '../log-drawer.module.css';

interface Span {
  readonly id: string;
  readonly status: number;
  readonly span_name: string | null;
  readonly model: string | null;
  readonly path: string;
  readonly duration_ms: number;
  readonly children: readonly unknown[];
}

interface Row {
  readonly span: Span;
  readonly depth: number;
}

/** Parents before their children, each with its depth. */
const flattened = (spans: readonly Span[], depth = 0): readonly Row[] =>
  spans.flatMap((span) => [{ span, depth }, ...flattened(span.children as readonly Span[], depth + 1)]);

/** All requests of the trace, as a tree. */
export function TraceTab({ log }: { log: LogDetail }) {
  const { workspace } = usePlace();
  const query = useQuery(traceQuery(log.trace_id));
  const rows = flattened(query.data?.spans ?? []);
  return (
    <Loadable state={loadStateOf(query, 'logs.list')}>
      {() => (
        <ul>
          {rows.length < 2 && <li className={styles.none}>{logWords.trace.none}</li>}
          {rows.map(({ span, depth }) => (
            <li
              key={span.id}
              className={styles.barLabel}
              style={{ paddingLeft: depth * 20, paddingBottom: 8 }}
            >
              <span>
                <StatusPill tone={toneOfStatus(span.status)}>{span.status}</StatusPill>{' '}
                <Link
                  to="/w/$workspace/logs/$id"
                  params={{ workspace: workspace.slug, id: span.id }}
                  search={{ tab: 'trace' }}
                  aria-current={span.id === log.id ? 'true' : undefined}
                >
                  {span.span_name ?? span.model ?? span.path}
                </Link>
              </span>
              <span className={styles.at}>{duration(span.duration_ms)}</span>
            </li>
          ))}
          {query.data?.has_more && <li className={styles.none}>{logWords.trace.more}</li>}
        </ul>
      )}
    </Loadable>
  );
}
