import { useQuery } from '@tanstack/react-query';
import { apiKeysQuery, limitsOf, virtualKeysQuery } from '../../api/keys';
import { loadStateOf } from '../../api/load-state';
import { LimitMeter } from '../../parts/values/limit-meter';
import { Moment } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { Card } from './card';
import styles from './overview.module.css';

const NEARLY_FULL = 0.8;
const SHOWN = 4;

/** The budgets of keys and virtual keys that are nearly used up, fullest first. */
export function BudgetsCard() {
  const { workspace } = usePlace();
  const keys = useQuery(apiKeysQuery(workspace.slug));
  const virtualKeys = useQuery(virtualKeysQuery(workspace.slug));
  const holders = [...(keys.data?.data ?? []), ...(virtualKeys.data?.data ?? [])];
  const budgets = holders
    .flatMap((holder) =>
      limitsOf(holder).map((limit) => ({
        id: `${holder.id} ${limit.type}`,
        name: holder.name,
        limit,
        share: limit.usage / limit.credit_limit,
      })),
    )
    .filter(({ share }) => share >= NEARLY_FULL)
    .sort((a, b) => b.share - a.share);
  return (
    <Card title={overviewWords.budgets} span={4} state={loadStateOf(keys, 'workspace_service_api_keys.list')}>
      {() => (
        <div className={styles.groups}>
          {budgets.length === 0 && <p className={styles.muted}>{overviewWords.budgetsNone}</p>}
          {budgets.slice(0, SHOWN).map(({ id, name, limit }) => (
            <div key={id}>
              <strong>{name}</strong>
              <LimitMeter label={name} limits={[limit]} />
              <p className={styles.muted}>
                {limit.next_usage_reset_at === null ? (
                  overviewWords.noReset
                ) : (
                  <>
                    {overviewWords.resets} <Moment at={limit.next_usage_reset_at} />
                  </>
                )}
              </p>
            </div>
          ))}
        </div>
      )}
    </Card>
  );
}
