import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Group, type GroupBy, type GraphQuery, groupsQuery } from '../../api/analytics';
import { apiKeysQuery } from '../../api/keys';
import { loadStateOf } from '../../api/load-state';
import { exact, money, nanoOfCents } from '../../parts/format/numbers';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import styles from './overview.module.css';

interface GroupCardProps {
  readonly title: string;
  readonly groupBy: GroupBy;
  readonly measure: 'cost' | 'requests';
  readonly query: GraphQuery;
}

/** The field of a group that names it, and the filter of Logs that means it. */
const NAMES = {
  'ai-models': ['ai_model', 'model'],
  api_key: ['api_key', 'api_key'],
  status_code: ['status_code', 'status'],
  provider: ['provider', 'provider'],
} as const satisfies Readonly<Record<GroupBy, readonly [keyof Group, string]>>;

/** The largest groups of one measure. A group opens its requests. */
export function GroupCard({ title, groupBy, measure, query }: GroupCardProps) {
  const { workspace } = usePlace();
  const groups = useQuery(groupsQuery(groupBy, query, measure));
  const keys = useQuery({ ...apiKeysQuery(workspace.slug), enabled: groupBy === 'api_key' });
  const [field, filter] = NAMES[groupBy];
  const nameOf = (value: string): string => keys.data?.data.find(({ id }) => id === value)?.name ?? value;
  const rows = (groups.data ?? [])
    .map((group) => ({ value: String(group[field] ?? ''), amount: group[measure] ?? 0 }))
    .filter(({ amount }) => amount > 0);
  const top = Math.max(...rows.map(({ amount }) => amount), 1e-9);
  const range = 'from' in query.time ? `${query.time.from}..${query.time.to}` : undefined;
  return (
    <Card title={title} span={4} state={loadStateOf(groups, 'analytics.view')}>
      {() => (
        <div className={styles.groups}>
          {rows.length === 0 && <p className={styles.muted}>{overviewWords.none}</p>}
          {rows.map(({ value, amount }) => (
            <div key={value}>
              <p className={styles.group}>
                <span>
                  {value === '' ? (
                    words.parts.none
                  ) : (
                    <Link
                      to="/w/$workspace/logs"
                      params={{ workspace: workspace.slug }}
                      search={{ filter: `${filter}:is:${value}`, range }}
                    >
                      {nameOf(value)}
                    </Link>
                  )}
                </span>
                <span>{measure === 'cost' ? money(nanoOfCents(amount)) : exact(amount)}</span>
              </p>
              <div className={styles.track} aria-hidden>
                <span style={{ width: `${(amount / top) * 100}%` }} />
              </div>
            </div>
          ))}
        </div>
      )}
    </Card>
  );
}
