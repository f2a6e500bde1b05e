import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { documentedFilters, FILTER_DESCRIPTIONS } from '../../request-log/reading/filter-descriptions.js';
import {
  conditionOfParameter,
  isFilterParameter,
  LOG_FILTERS,
  type QueryCondition,
} from '../../request-log/reading/log-filters.js';
import { MOMENT_FORMAT } from '../http/query-fields.js';
import { QueryDto, QueryOthers } from '../http/query.dto.js';

/** The filters of the request log, under the names of their table or `metadata[key]`. */
export class LogFilterQuery extends QueryDto {
  @QueryOthers({ accepts: isFilterParameter, suggested: Object.keys(LOG_FILTERS) })
  readonly filters: Readonly<Record<string, string>> = {};
}

/** The conditions of the filters with these names; default: all. */
export const filterConditions = (
  { filters }: LogFilterQuery,
  isIncluded: (name: string) => boolean = () => true,
): QueryCondition[] =>
  Object.entries(filters).flatMap(([name, value]) =>
    isIncluded(name) ? (conditionOfParameter(name, value) ?? []) : [],
  );

const UUID = '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}';

const listOf = (value: string, most: number): string => `^${value}(?:,${value}){0,${most - 1}}$`;

type FilterFormat = Readonly<Pick<ApiPropertyOptions, 'pattern' | 'example'> & { type?: typeof Boolean }>;

/** Formats of values, by what a filter expects. They may be narrower than the service where an exact one would be complex. */
const FORMATS: readonly (readonly [RegExp, FilterFormat])[] = [
  [/a date, or a date and time/, MOMENT_FORMAT],
  [/a number/, { pattern: '^-?\\d{1,9}(?:\\.\\d{1,6})?$', example: '100' }],
  [/"true" or "false"/, { type: Boolean }],
  [/a list of status codes/, { pattern: listOf('[1-5]\\d\\d', 10), example: '429' }],
  [/a status code/, { pattern: '^[1-5]\\d\\d$', example: '403' }],
  [/a list of at most 100 values/, { pattern: listOf('[^,]{1,64}', 10) }],
  [/a list of ids/, { pattern: listOf(UUID, 10) }],
];

const METADATA_EXAMPLE = '{"team":"search"}';

const formatOf = (name: string, expects: string): FilterFormat =>
  name === 'metadata'
    ? { example: METADATA_EXAMPLE }
    : (FORMATS.find(([pattern]) => pattern.test(expects))?.[1] ?? {});

for (const [name, expects] of documentedFilters())
  ApiProperty({
    type: String,
    required: false,
    description: FILTER_DESCRIPTIONS[name] ?? '',
    ...formatOf(name, expects),
  })(LogFilterQuery.prototype, name);
