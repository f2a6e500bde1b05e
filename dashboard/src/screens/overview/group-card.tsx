import { Link } from '@tanstack/react-router';
import { filtersText } from '../../parts/filters/filter';
import type { LoadState } from '../../parts/states/load-state';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import styles from './overview.module.css';

export interface CardGroup {
  /** As the filter takes it; '' for requests that name none. */
  readonly value: string;
  /** What people call it. */
  readonly name?: string | undefined;
  readonly amount: number;
}

interface GroupCardProps {
  readonly title: string;
  readonly state: LoadState;
  /** Largest first. */
  readonly groups: readonly CardGroup[] | undefined;
  readonly format: (amount: number) => string;
  /** The field of Logs that means a group. */
  readonly field: string;
  /** As the address of Logs takes it. */
  readonly range: string;
}

/** The largest groups of one measure. A group opens its requests. */
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
