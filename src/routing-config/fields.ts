import { CLIENT_DISCONNECT_RULES, UNSUPPORTED_PARAMETER_RULES } from '../common/contracts/upstream-rules.js';
import { ACCOUNT_FIELDS, ACCOUNT_SECRETS, type AccountFields } from './account-fields.js';
import { readCacheRules } from './cache-rules.js';
import type {
  BreakerRules,
  ConditionRules,
  GuardrailReference,
  HedgeRules,
  RetryRules,
  RoutingConfig,
  StickyRules,
  Strategy,
} from './document.js';
import { type HookListName, readHookList } from './guardrails/read-hooks.js';
import {
  objectReader,
  flag,
  isJsonObject,
  listReader,
  number,
  object,
  oneOf,
  type Reader,
  type Readers,
  text,
  wholeNumber,
} from './readers.js';

/** The fields of a config and the limits of their values. Rules across fields are in `rules.ts`. */

const TARGETS_MAX = 1_000;
const CONDITIONS_MAX = 1_000;
const NAME_CHARS_MAX = 256;
const SECRET_CHARS_MAX = 16_384;
const DAY_SECONDS = 86_400;
const TIMEOUT_MS_MAX = 30 * 60_000;

const name = text({ max: NAME_CHARS_MAX });
const secret = text({ max: SECRET_CHARS_MAX });
const headerName = text({ max: 128, pattern: /^[\w!#$%&'*+.^`|~-]+$/, expected: 'the name of a header' });
const statuses = listReader(wholeNumber({ min: 100, max: 599 }), { min: 1, max: 100 });
const parameterPath = text({
  max: NAME_CHARS_MAX,
  pattern: /^[^.[\]]+(\[(\*|\d{1,6})\])*(\.[^.[\]]+(\[(\*|\d{1,6})\])*)*$/,
  expected: 'the path of a parameter, such as tools[*].strict',
});

const breaker = object<BreakerRules>({
  failure_threshold: wholeNumber({ min: 1, max: 1_000_000 }),
  failure_threshold_percentage: number({ min: 1, max: 100 }),
  cooldown_interval: wholeNumber({ min: 30_000, max: DAY_SECONDS * 1000 }),
  failure_status_codes: statuses,
  minimum_requests: wholeNumber({ min: 1, max: 1_000_000 }),
});

const retry = object<RetryRules & { readonly use_retry_after_headers?: boolean }>(
  {
    attempts: wholeNumber({ min: 0, max: 5 }),
    on_status_codes: statuses,
    use_retry_after_header: flag,
    use_retry_after_headers: flag,
  },
  ['attempts'],
);

/** The published pages spell the switch in the plural, the compatible gateway's code in the singular. */
const eitherSpelling: Reader<RetryRules> = (value, at) => {
  const read = retry(value, at);
  if (!read) return undefined;
  const { use_retry_after_headers: plural, ...rest } = read;
  return plural === undefined ? rest : { use_retry_after_header: plural, ...rest };
};

const hooks =
  (list: HookListName): Reader<readonly GuardrailReference[]> =>
  (value, at) =>
    readHookList(value, list, at);

const condition = object<ConditionRules>({ query: objectReader, then: name }, ['query', 'then']);

const sticky = object<StickyRules>({
  enabled: flag,
  hash_fields: listReader(
    text({
      max: NAME_CHARS_MAX,
      pattern: /^(metadata|params|headers)\../,
      expected: 'a field of metadata., params. or headers.',
    }),
    { min: 1, max: 16 },
  ),
  ttl: wholeNumber({ min: 1, max: 30 * DAY_SECONDS }),
});

const percent = number({ min: 0.1, max: 100 });

const hedge = object<HedgeRules>({
  after_ms: wholeNumber({ min: 1, max: 60_000 }),
  max_share: percent,
  max_spend: percent,
});

const strategy = object<Strategy>(
  {
    mode: oneOf('single', 'loadbalance', 'fallback', 'conditional'),
    on_status_codes: statuses,
    conditions: listReader(condition, { min: 1, max: CONDITIONS_MAX }),
    default: name,
    hold_stream_ms: wholeNumber({ min: 0, max: 60_000 }),
    hedge,
    sticky,
    balance_by: oneOf('weight', 'latency', 'least_busy', 'cost'),
    cb_config: breaker,
  },
  ['mode'],
);

/** A service account may be an object or its JSON text. */
const accountSecret: Reader<string> = (value, at) =>
  isJsonObject(value) ? secret(JSON.stringify(value), at) : secret(value, at);

const account = Object.fromEntries([
  ...ACCOUNT_FIELDS.map((field) => [field, text({ max: 2_048 })] as const),
  ...ACCOUNT_SECRETS.map((field) => [field, accountSecret] as const),
]) as Readers<AccountFields>;

/** Templates are not supported: the gateway stores none. */
const promptId: Reader<never> = (_, at) =>
  at.refuse('cannot be used: this gateway stores no prompt templates');

/** For root and targets alike. */
export const readFields: Reader<RoutingConfig> = (value, at) => config(value, at);

const config = object<RoutingConfig & { readonly prompt_id?: never }>({
  ...account,
  strategy,
  targets: listReader(readFields, { min: 1, max: TARGETS_MAX }),
  name,
  weight: number({ min: 0, max: 1_000_000 }),
  provider: name,
  api_key: secret,
  virtual_key: name,
  prompt_id: promptId,
  custom_host: text({ max: 2_048 }),
  override_params: objectReader,
  default_params: objectReader,
  drop_params: listReader(parameterPath, { min: 0, max: 100 }),
  forward_headers: listReader(headerName, { min: 0, max: 50 }),
  request_timeout: wholeNumber({ min: 1, max: TIMEOUT_MS_MAX }),
  on_client_disconnect: oneOf(...CLIENT_DISCONNECT_RULES),
  unsupported_parameters: oneOf(...UNSUPPORTED_PARAMETER_RULES),
  stream_usage: flag,
  strict_open_ai_compliance: flag,
  passthrough: flag,
  fetch_integrated_models: flag,
  retry: eitherSpelling,
  cache: readCacheRules,
  cb_config: breaker,
  before_request_hooks: hooks('before_request_hooks'),
  after_request_hooks: hooks('after_request_hooks'),
  input_guardrails: hooks('input_guardrails'),
  output_guardrails: hooks('output_guardrails'),
  input_mutators: hooks('input_mutators'),
  output_mutators: hooks('output_mutators'),
});
