import type { LogDetail } from '../../../api/logs';
import { exact, exactMoney, money, NONE } from '../../../parts/format/numbers';
import { logWords } from '../../../words/log';
import { routeWords } from '../../../words/log-route';
import styles from '../log-drawer.module.css';
import { budgetName, type ChargedBudget } from '../route-story';
import { unknownCostOf } from '../log-failure';
import { nanoOf, tokenCosts } from '../token-costs';

const { cost } = logWords;

/** Tokens by kind times prices, beside the charged amount. */
export function CostTab({ log }: { log: LogDetail }) {
  const delivered =
    log.attempts.findLast(({ status }) => status !== null && status < 400) ?? log.attempts.at(-1);
  const rows = tokenCosts(log, delivered);
  const { price, estimated } = delivered ?? {};
  const unknown = unknownCostOf(log);
  return (
    <>
      {rows.length > 0 && (
        <>
          <h3 className={styles.section}>{cost.title}</h3>
          <table className={styles.table}>
            <thead>
              <tr>
                {[cost.kind, cost.tokens, cost.price, cost.cost].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.kind}>
                  <th scope="row">{cost.kinds[row.kind] ?? row.kind}</th>
                  <td>{exact(row.tokens)}</td>
                  <td>{row.usdPerMillion === null ? NONE : usdPerMillion(row.usdPerMillion)}</td>
                  <td>{exactMoney(nanoOf(row))}</td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={3}>
                  {cost.total}
                </th>
                <td>{exactMoney(log.cost_nano_usd)}</td>
              </tr>
            </tfoot>
          </table>
        </>
      )}
      <CostNotes
        log={log}
        source={
          unknown ??
          (price
            ? cost.source(price.source === 'agreed' ? cost.agreed : cost.listed, price.model)
            : cost.noPrice)
        }
        isEstimated={estimated === true || log.usage_source === 'estimated'}
      />
      <Budgets log={log} />
    </>
  );
}

/** Prices of cached tokens are fractions of a cent: rounded to cents, tokens times price would not give the cost. */
const usdPerMillion = (usd: number): string =>
  `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;

interface Charge {
  readonly budget: ChargedBudget;
  readonly amount: number;
}

/** The charge to each budget: the cost, or the tokens, of the attempts that name it. Attempts without usage charge nothing. */
function chargesOf({ attempts }: LogDetail): readonly Charge[] {
  const charges = new Map<string, Charge>();
  for (const { charged_to, cost_nano_usd, input_tokens, output_tokens } of attempts)
    for (const budget of charged_to) {
      const tokens = (input_tokens ?? 0) + (output_tokens ?? 0);
      const amount = budget.measure === 'cost' ? (cost_nano_usd ?? 0) : tokens;
      const before = charges.get(budget.limit_id)?.amount ?? 0;
      charges.set(budget.limit_id, { budget, amount: before + amount });
    }
  return [...charges.values()].filter(({ amount }) => amount > 0);
}

function Budgets({ log }: { log: LogDetail }) {
  const texts = routeWords.budgets;
  const charges = chargesOf(log);
  const hasBudgets = log.attempts.some(({ charged_to }) => charged_to.length > 0);
  const wasSent = log.attempts.length > 0;
  if (charges.length === 0)
    return <p className={styles.none}>{hasBudgets ? texts.nothing : wasSent ? texts.none : texts.notSent}</p>;
  return (
    <>
      <h3 className={styles.section}>{texts.title}</h3>
      <table className={styles.table}>
        <thead>
          <tr>
            {[texts.owner, texts.measure, texts.amount].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {charges.map(({ budget, amount }) => (
            <tr key={budget.limit_id}>
              <th scope="row">{budgetName(budget)}</th>
              <td>{texts.measures[budget.measure]}</td>
              <td>{budget.measure === 'cost' ? exactMoney(amount) : exact(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function CostNotes({ log, source, isEstimated }: { log: LogDetail; source: string; isEstimated: boolean }) {
  return (
    <div className={styles.none}>
      <p>{source}</p>
      {isEstimated && <p>{cost.estimated}</p>}
      {log.saved_nano_usd !== null && <p>{cost.saved(money(log.saved_nano_usd))}</p>}
    </div>
  );
}
