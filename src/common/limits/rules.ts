/**
 * Limits as they are stored and shown, with the names of the wire. A subject (API key, virtual key, workspace, policy) has a list of each
 * kind, or null for none.
 */

/** A rate: requests or tokens in a window of time, or concurrent requests. */
export interface RateRule {
  /** Identifies the counter: another id starts at zero. */
  readonly id: string;
  readonly type: 'requests' | 'tokens' | 'concurrency';
  /** Null for concurrency, which has no window. */
  readonly unit: RateUnit | null;
  readonly value: number;
  /** Absent in rules stored before the field existed: `open`. */
  readonly on_store_failure?: StoreFailureMode;
}

/** What happens to requests while the store of a rate limit is unavailable: `open` lets them pass, `closed` refuses them. */
export const STORE_FAILURE_MODES = ['open', 'closed'] as const;

export type StoreFailureMode = (typeof STORE_FAILURE_MODES)[number];

/** The amount that may be spent until the next reset. */
export interface BudgetRule {
  /** Identifies the counter: another id starts at zero, which is how usage is reset. */
  readonly id: string;
  readonly type: BudgetMeasure;
  /** As given: dollars, or tokens. */
  readonly credit_limit: number;
  readonly alert_threshold: number | null;
  /** The same two in nano-dollars, or in tokens. */
  readonly amount: number;
  readonly alert_amount: number | null;
  /** At most one of the two is set; without either, the budget never resets. */
  readonly periodic_reset: 'weekly' | 'monthly' | null;
  readonly periodic_reset_days: number | null;
  /** Start of the first period of days, milliseconds since the epoch. */
  readonly starts_at: number;
  /** Additional amount for one period; absent without a raise. */
  readonly raise?: BudgetRaise;
}

/** An additional amount in one period. It ends with the period. */
export interface BudgetRaise {
  /** In nano-dollars, or in tokens. */
  readonly amount: number;
  /** End of its period, milliseconds since the epoch. */
  readonly ends_at: number;
}

export type BudgetMeasure = 'cost' | 'tokens';

/** Windows, in milliseconds. */
export const RATE_WINDOWS_MS = {
  rps: 1_000,
  rpm: 60_000,
  rph: 3_600_000,
  rpd: 86_400_000,
  rpw: 604_800_000,
} as const;

export type RateUnit = keyof typeof RATE_WINDOWS_MS;

/** The values that a policy's conditions and groups can use, as can `metadata.<key>`. */
export const POLICY_KEYS = ['api_key', 'workspace_id', 'virtual_key', 'provider', 'model'] as const;

export type PolicyKey = (typeof POLICY_KEYS)[number] | `metadata.${string}`;

export interface PolicyCondition {
  readonly key: PolicyKey;
  /** One of these; "*" is any value that is present. */
  readonly value: string | readonly string[];
}

/** A workspace limit on requests that match all conditions, with a separate counter for each combination of the groups' values. */
export interface PolicyRule {
  readonly id: string;
  readonly name: string;
  readonly conditions: readonly PolicyCondition[];
  readonly group_by: readonly { readonly key: PolicyKey }[];
  readonly budget: BudgetRule | null;
  readonly rate: RateRule | null;
}
