import type { Queryable } from '../../common/database/queryable.js';
import { type LimitAsk, type LimitGrant, type LimitReturn, LimitStore } from '../../gateway/ports.js';

interface Row {
  readonly place: string;
  readonly granted: string;
  readonly free: string;
  readonly retry_ms: string;
}

/** A process that is silent for so long has lost its slots; its budgets wait for its records, and in vain after an hour. */
const SLOT_LEASE = '30 seconds';
const BUDGET_LEASE = '1 hour';

/** Limits in PostgreSQL: each call is one statement, which locks its counters in one order. */
export class PostgresLimitStore extends LimitStore {
  constructor(
    private readonly database: Queryable,
    override readonly holder: string,
    private readonly slotLease = SLOT_LEASE,
  ) {
    super();
  }

  override async take(asks: readonly LimitAsk[]): Promise<readonly LimitGrant[]> {
    const rows: Row[] = await this.database.query(
      'SELECT place, granted, free, retry_ms FROM take_limits($1, $2) ORDER BY place',
      [this.holder, JSON.stringify(asks.map((ask) => askRow(ask, this.slotLease)))],
    );
    return rows.map(({ granted, free, retry_ms }) => ({
      granted: Number(granted),
      free: Number(free),
      retryMs: Number(retry_ms),
    }));
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<void> {
    // Its rows do not forget, and all that this process leases is kept alive by its name.
    const due = returns.filter(({ amount, unsureSince }) => amount > 0 || unsureSince !== null);
    const rows = due.map(({ key, limit, amount, call, unsureSince }) => ({
      key,
      kind: limit.kind,
      amount,
      call,
      unsure_since: unsureSince,
    }));
    await this.database.query('SELECT give_back_limits($1, $2)', [this.holder, JSON.stringify(rows)]);
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
