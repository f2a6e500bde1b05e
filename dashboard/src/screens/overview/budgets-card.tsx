import { type Limit, limitsQuery } from '../../api/limits';
import { useList } from '../../api/lists';
import { limitAmount } from '../../parts/values/limit-meter';
import { Meter, Moment } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { Card } from './card';
import styles from './overview.module.css';

const NEARLY_FULL = 0.8;
const SHOWN = 4;

const isNearlyFull = ({ kind, used, limit }: Limit): boolean =>
  kind === 'budget' && (used ?? 0) >= limit * NEARLY_FULL;

/** The budgets of keys, virtual keys and workspaces that are nearly used up, fullest first. */
export function BudgetsCard() {
  const { workspace } = usePlace();
  const { rows, state } = useList(limitsQuery(workspace.slug), 'virtual_keys.list');
  const budgets = rows.filter(isNearlyFull);
  return (
    <Card title={overviewWords.budgets} span={4} state={state}>
      {() => (
        <div className={styles.groups}>
          {budgets.length === 0 && <p className={styles.muted}>{overviewWords.budgetsNone}</p>}
          {budgets.slice(0, SHOWN).map((budget) => (
            <Budget key={budget.id} budget={budget} />
          ))}
        </div>
      )}
    </Card>
  );
}

function Budget({ budget: { applies_to, measure, limit, used, resets_at } }: { budget: Limit }) {
  const { name } = applies_to;
  return (
    <div>
      <strong>{name}</strong>
      <Meter
        isMarked
        label={name}
        used={used ?? 0}
        limit={limit}
        format={(amount) => limitAmount(measure === 'cost' ? 'cost' : 'tokens', amount)}
      />
      <p className={styles.muted}>
        {resets_at === null ? (
          overviewWords.noReset
        ) : (
          <>
            {overviewWords.resets} <Moment at={resets_at} />
          </>
        )}
      </p>
    </div>
  );
}
