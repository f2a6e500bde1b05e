import { Link } from '@tanstack/react-router';
import { filtersText } from '../../parts/filters/filter';
import type { LoadState } from '../../parts/states/load-state';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import styles from './overview.module.css';

export interface CardGroup {
  /** As a filter value; '' for requests without one. */
  readonly value: string;
  /** Display name. */
  readonly name?: string | undefined;
  readonly amount: number;
}

interface GroupCardProps {
  readonly title: string;
  readonly state: LoadState;
  /** Largest first. */
  readonly groups: readonly CardGroup[] | undefined;
  readonly format: (amount: number) => string;
  /** The Logs field of the group. */
  readonly field: string;
  /** In the format of the Logs URL. */
  readonly range: string;
}

/** The largest groups of one measure. A group links to its requests. */
export function GroupCard({ title, state, groups = [], format, field, range }: GroupCardProps) {
  const { workspace } = usePlace();
  const rows = groups.filter(({ amount }) => amount > 0);
  const top = Math.max(...rows.map(({ amount }) => amount), 1e-9);
  return (
    <Card title={title} span={4} state={state}>
      {() => (
        <div className={styles.groups}>
          {rows.length === 0 && <p className={styles.muted}>{overviewWords.none}</p>}
          {rows.map(({ value, name, amount }) => (
            <div key={value}>
              <p className={styles.group}>
                <span>
                  {value === '' ? (
                    words.parts.none
                  ) : (
                    <Link
                      to="/w/$workspace/logs"
                      params={{ workspace: workspace.slug }}
                      search={{ filter: filtersText([{ field, operator: 'is', value }]), range }}
                    >
                      {name ?? value}
                    </Link>
                  )}
                </span>
                <span>{format(amount)}</span>
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
