import { columnsWith, LOG_COLUMNS } from '../columns/log-columns.js';
import { LOG_FILTERS, type LogFilterName } from './log-filters.js';

const VALUES = 'Commas separate values, at most 100.';

/** Filters by values. `not_…` is the negation of each. */
const BY_VALUE: Readonly<Partial<Record<LogFilterName, string>>> = {
  ...Object.fromEntries(columnsWith('filter').map((name) => [name, LOG_COLUMNS[name].filter])),
  status_code: 'HTTP status of the response',
  ai_org_model: 'provider and model, as `provider__model`',
  config: 'slug of the saved config',
  user: 'end user: the value of `_user` in the metadata',
};

const BETWEEN = {
  total_units: 'Input and output tokens together',
  cost: 'Cost in US cents',
  prompt_token: 'Input tokens',
  completion_token: 'Output tokens',
  response_time: 'Milliseconds to the end of the response',
  time_to_first_token: 'Milliseconds to the first token of the response',
  status_code: 'HTTP status of the response',
  weighted_feedback: 'Mean of value times weight of the feedback on the trace',
} as const;

const entriesOf = <Value>(table: Readonly<Record<string, Value>>): readonly [string, Value][] =>
  Object.entries(table);

/**
 * What each filter of the request log selects. Names that are missing here are aliases of other clients: they are accepted but not
 * documented in the OpenAPI document.
 */
export const FILTER_DESCRIPTIONS: Readonly<Partial<Record<string, string>>> = {
  time_of_generation_min:
    'Earliest arrival of the request: a date, or a date and time with its zone. Default in analytics: a day before the latest.',
  time_of_generation_max:
    'Latest arrival of the request: a date, or a date and time with its zone. Default in analytics: now.',
  ...Object.fromEntries(
    entriesOf(BETWEEN).flatMap(([name, what]) => [
      [`${name}_min`, `${what}: the lowest to include.`],
      [`${name}_max`, `${what}: the highest to include.`],
    ]),
  ),
  has_feedback: 'True selects requests whose trace has feedback, false the others.',
  is_success: 'True selects responses with a status below 400, false the others.',
  ...Object.fromEntries(
    entriesOf(BY_VALUE).flatMap(([name, what]) => [
      [name, `Includes requests by ${what}. ${VALUES}`],
      [`not_${name}`, `Excludes requests by ${what}. ${VALUES}`],
    ]),
  ),
  metadata: 'Includes requests that have all these key-value pairs: a JSON object of texts.',
  not_metadata: 'Excludes requests that have all these key-value pairs: a JSON object of texts.',
};

/** The documented filters, each with the format of its value. */
export const documentedFilters = (): readonly [name: string, expects: string][] =>
  Object.entries(LOG_FILTERS).flatMap(([name, { expects }]) =>
    FILTER_DESCRIPTIONS[name] === undefined ? [] : [[name, expects]],
  );
