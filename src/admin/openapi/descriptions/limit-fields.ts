/** Fields of limits, policies and legal holds. Keys as in `COMMON_FIELDS`. */
export const LIMIT_FIELDS: Readonly<Record<string, string>> = {
  'RateLimit.type': 'What is limited: requests, tokens, or requests that run at the same time.',
  'ShownRateLimit.type': 'What is limited: requests, tokens, or requests that run at the same time.',
  'RatePolicy.type': 'What is limited: requests, tokens, or requests that run at the same time.',
  unit: 'Window: `rps` a second, `rpm` a minute, `rph` an hour, `rpd` a day, `rpw` a week. Null for `concurrency`.',
  value: 'The most that is allowed in the window.',
  on_store_failure:
    'What happens while the store of the limit is unavailable: `open` lets requests pass without the limit; `closed` refuses them with 503 `limits_unavailable`. Default: `open`.',
  'UsageLimits.type': 'Whether the budget counts US dollars or tokens. Default: `cost`.',
  'ShownUsageLimits.type': 'Whether the budget counts US dollars or tokens.',
  'UsagePolicy.type': 'Whether the budget counts US dollars or tokens. Default: `cost`.',
  credit_limit: 'Amount of the budget: US dollars with at most nine decimals, up to 9,000,000, or tokens.',
  alert_threshold:
    'Use at which an alert is sent, in the unit of the budget and below it. Null: no alert. Default: null.',
  periodic_reset:
    'When use goes back to zero: `weekly` on Monday or `monthly` on the first, at midnight UTC. Null: never. Default: null.',
  periodic_reset_days:
    'Number of days after which use returns to zero, 1 to 365. Not together with `periodic_reset`. Null: never. Default: null.',
  next_usage_reset_at:
    'Time of the next reset. It can be set only together with `periodic_reset_days`. Null if there is none.',
  last_reset_at: 'Time of the last reset. Null if there was none.',
  usage: 'Use since the last reset, in dollars or tokens. Requests count when they have ended.',
  'ShownUsageLimits.raised_by': 'Amount added to the budget until its next reset.',

  'UsagePolicy.name': 'Name of the budget.',
  'RatePolicy.name': 'Name of the rate limit.',
  conditions: 'Conditions under which a request counts. All of them must hold. 1 to 10.',
  group_by:
    'Properties by which requests are counted apart: each combination of values has a counter of its own.',
  'Condition.key': 'Property of the request, such as `model` or `metadata.team`.',
  'Condition.value': 'Value, or list of values, of which one must match. `*` matches every value.',
  'Condition.excludes': 'Values that do not match, although `value` does.',
  'Group.key': 'Property of the request, such as `api_key` or `metadata._user`.',
  'PolicyEntity.id': 'Id of the counter.',
  value_key: 'Values of the properties that the counter is for.',
  'PolicyEntity.status': '`exhausted` counters have reached the budget; their requests are refused.',
  current_usage: 'Use since the last reset, in dollars or tokens.',
  reset_usage_for_value: 'Id or value of the counter to set back to zero.',

  'RaiseLimit.by': 'Amount to add until the next reset, in dollars or tokens. Several raises add up.',
  applies_to: 'What the limit belongs to.',
  'LimitSubject.type': 'Kind of what the limit belongs to.',
  'LimitSubject.slug': 'Slug of the virtual key or workspace. Null for an API key.',
  'LimitStatus.kind': 'Kind of the limit.',
  measure: 'What is counted: dollars, tokens, requests, or requests that run at the same time.',
  period:
    'Reset period of a budget, or window of a rate limit. Null for a budget without a reset, and for concurrency.',
  limit: 'Amount that is allowed now, raises included.',
  'LimitStatus.raised_by': 'Amount added until the next reset.',
  used: 'Use in the current period or window. Null while the store of the limit is unavailable.',
  remaining:
    'What is left in the current period or window. Null while the store of the limit is unavailable.',
  resets_at: 'Time of the next reset of a budget. Null if there is none.',
  used_per_day: 'Average use of a budget in a day of the current period. Null for rate limits.',
  exhausted_at: 'Time at which the budget ends at the current rate of use. Null if it lasts until its reset.',
  'LimitStatus.status': '`nearly_exhausted` from 80 % of use.',
  is_partial: 'Whether there are more limits than this response covers.',

  'LegalHold.reason': 'Why the log must be kept, such as a case or an order.',
  'ReleaseLegalHold.reason': 'Why the log need not be kept any longer.',
  'CreateLegalHold.workspace_id':
    'Id or slug of the workspace. Left out, the hold covers the whole organization.',
  placed_by: 'User or API key that placed the hold.',
  release_reason: 'Why the hold was released. Null while it is active.',
  released_at: 'Time of release. Null while the hold is active.',
  released_by: 'User or API key that released the hold. Null while it is active.',
};
