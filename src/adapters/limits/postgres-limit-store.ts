import { isFaultOfData } from '../../database/sessions/database-errors.js';
import type { Queryable } from '../../database/queryable.js';
import {
  type AskAnswer,
  type LimitAsk,
  LimitFault,
  type LimitGrant,
  type LimitReturn,
  LimitStore,
  type ReturnAnswer,
  RETURNED,
} from '../../gateway/ports.js';
import { answerApart } from './answer-apart.js';

type LimitColumn = 'granted' | 'free' | 'retry_ms' | 'others' | 'step';

/** A process that is silent for this long loses its slots. Its budget leases wait an hour for its records, then expire. */
const SLOT_LEASE = '30 seconds';
const BUDGET_LEASE = '1 hour';

/**
 * Limits in PostgreSQL. Each call is one statement, which locks its counters in a fixed order. A failed statement has no effect, so its
 * counters are then sent one by one, and a window that cannot be read is restarted.
 */
export class PostgresLimitStore extends LimitStore {
  constructor(
    private readonly database: Queryable,
    override readonly holder: string,
    private readonly slotLease = SLOT_LEASE,
  ) {
    super();
  }

  override async take(requests: readonly LimitAsk[]): Promise<readonly AskAnswer[]> {
    const answers = await answerApart(requests, (some) => this.takeAll(some), isFaultOfData);
    const healed = answers.map((answer, at) => this.healed(answer, requests[at]));
    return Promise.all(healed);
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]> {
    return answerApart(returns, (some) => this.giveAll(some), isFaultOfData);
  }

  /** Unused windows are removed with the others. */
  override async tryWrite(): Promise<void> {
    await this.database.query(
      'INSERT INTO limit_windows (key) VALUES ($1) ON CONFLICT (key) DO UPDATE SET used_at = EXCLUDED.used_at',
      [`write-check/${this.holder}`],
    );
  }

  private async takeAll(requests: readonly LimitAsk[]): Promise<readonly LimitGrant[]> {
    const rows = await this.database.query<Record<LimitColumn, string>>(
      'SELECT granted, free, retry_ms, others, step FROM lease_limits($1, $2) ORDER BY place',
      [this.holder, JSON.stringify(requests.map((ask) => askRow(ask, this.slotLease)))],
    );
    return rows.map(({ granted, free, retry_ms, others, step }) => ({
      granted: Number(granted),
      free: Number(free),
      retryMs: Number(retry_ms),
      others: Number(others),
      step: Number(step),
      wasCorrupt: false,
    }));
  }

  private async healed(answer: AskAnswer, ask: LimitAsk | undefined): Promise<AskAnswer> {
    if (!(answer instanceof LimitFault) || ask?.limit.kind !== 'window') return answer;
    await this.database.query('DELETE FROM limit_windows WHERE key = $1', [ask.key]);
    const [again = answer] = await answerApart([ask], (some) => this.takeAll(some), isFaultOfData);
    return again instanceof LimitFault ? again : { ...again, wasCorrupt: true };
  }

  private async giveAll(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]> {
    // Rows survive, unlike in Redis, and this process's name keeps all of its leases alive, so that zero returns need not be sent.
    const due = returns.filter(({ amount, unsureSince }) => amount > 0 || unsureSince !== null);
    const rows = due.map(({ key, limit, amount, call, unsureSince, steps }) => ({
      key,
      kind: limit.kind,
      window: limit.windowMs,
      amount,
      call,
      unsure_since: unsureSince,
      steps,
    }));
    await this.database.query('SELECT return_limits($1, $2)', [this.holder, JSON.stringify(rows)]);
    return returns.map(() => RETURNED);
  }
}

function askRow(ask: LimitAsk, slotLease: string) {
  const { key, limit, group, debt, first, need, spare, call, unsureSince } = ask;
  return {
    key,
    kind: limit.kind,
    organization: limit.organizationId,
    limit: limit.id,
    measure: limit.measure,
    group,
    amount: limit.amount,
    alert: limit.budget?.alert_amount ?? null,
    window: limit.windowMs,
    lease: limit.kind === 'slots' ? slotLease : BUDGET_LEASE,
    debt,
    first,
    need,
    spare,
    call,
    unsure_since: unsureSince,
  };
}
