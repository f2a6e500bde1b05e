/**
 * Limits as they are stored and shown, with the names of the wire. A subject (API key, virtual key, workspace, policy)
 * has a list of each kind, or null where it has none.
 */

/** How much may pass: requests or tokens in a window of time, or requests that run at the same time. */
export interface RateRule {
  /** Names the counter: another id begins at nothing. */
  readonly id: string;
  readonly type: 'requests' | 'tokens' | 'concurrency';
  /** Null for concurrency, which has no window. */
  readonly unit: RateUnit | null;
  readonly value: number;
  /** Absent in rules that were stored before the field existed: `open`. */
  readonly on_store_failure?: StoreFailureMode;
}

/** What happens to requests while the store of a rate limit is unavailable: `open` lets them pass, `closed` refuses them. */
export const STORE_FAILURE_MODES = ['open', 'closed'] as const;

export type StoreFailureMode = (typeof STORE_FAILURE_MODES)[number];

/** How much may be spent until the next reset. */
export interface BudgetRule {
  /** Names the counter: another id begins at nothing, which is how usage is reset. */
  readonly id: string;
  readonly type: BudgetMeasure;
  /** As it was given: dollars, or tokens. */
  readonly credit_limit: number;
  readonly alert_threshold: number | null;
  /** The same two in nano-dollars, or in tokens. */
  readonly amount: number;
  readonly alert_amount: number | null;
  /** At most one of the two is set; none means that the budget never resets. */
  readonly periodic_reset: 'weekly' | 'monthly' | null;
  readonly periodic_reset_days: number | null;
  /** From when periods of days are counted, milliseconds since the epoch. */
  readonly starts_at: number;
  /** More for one period; absent where it was not raised. */
  readonly raise?: BudgetRaise;
}

/** What a budget has more in one period. It ends with the period and needs no taking back. */
export interface BudgetRaise {
  /** In nano-dollars, or in tokens. */
  readonly amount: number;
  /** End of the period for which it was given, milliseconds since the epoch. */
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

/** What a policy's conditions and groups look at. `metadata.<key>` is one too. */
export const POLICY_KEYS = ['api_key', 'workspace_id', 'virtual_key', 'provider', 'model'] as const;

export type PolicyKey = (typeof POLICY_KEYS)[number] | `metadata.${string}`;

export interface PolicyCondition {
  readonly key: PolicyKey;
  /** One of these; "*" is any value, as long as there is one. */
  readonly value: string | readonly string[];
}

/** A limit of a workspace on requests that meet all conditions, counted apart for each combination of the groups' values. */
export interface PolicyRule {
  readonly id: string;
  readonly name: string;
  readonly conditions: readonly PolicyCondition[];
  readonly group_by: readonly { readonly key: PolicyKey }[];
  readonly budget: BudgetRule | null;
  readonly rate: RateRule | null;
}
