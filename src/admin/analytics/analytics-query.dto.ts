import { Alias } from '../http/query.dto.js';
import {
  QueryChoice,
  QueryField,
  QueryFlag,
  QueryPageNumber,
  QueryPageSize,
  QueryText,
} from '../http/query-fields.js';
import { LogFilterQuery } from '../dto-fields/log-filter-query.dto.js';
import { type ColumnName, COLUMNS, isColumn } from './groups.js';
import { type Interval, INTERVALS, isTimeZone } from './time-slots.js';

/** A time range and filters. */
export class AnalyticsQuery extends LogFilterQuery {
  @QueryText('Id or slug of a workspace. Default: every workspace within reach; for a workspace key its own.')
  @Alias('workspace_id')
  readonly workspace_slug?: string;
}

/** A series of points. */
export class SeriesQuery extends AnalyticsQuery {
  @QueryChoice(
    INTERVALS,
    'Length of a data point. Default: chosen by the length of the time range.',
    `must be one of ${INTERVALS.join(', ')}`,
  )
  readonly interval?: Interval;

  @QueryField(
    {
      type: String,
      description:
        'IANA time zone in which days, weeks and months begin, such as Europe/Berlin. Default: UTC.',
    },
    'must be an IANA time zone, such as Europe/Berlin',
    (text) => (isTimeZone(text) ? text : undefined),
  )
  readonly time_zone: string = 'UTC';
}

/** Lists have pages; charts have all of their points. */
export class GraphQuery extends SeriesQuery {
  @QueryPageNumber({ isHidden: true })
  readonly current_page: number = 0;

  @QueryPageSize({ isHidden: true })
  readonly page_size: number = 50;
}

export class FacetQuery extends AnalyticsQuery {
  @QueryPageSize()
  readonly page_size: number = 50;
}

const COLUMN_NAMES = Object.keys(COLUMNS) as ColumnName[];
const ANY_COLUMN = `(?:${COLUMN_NAMES.join('|')})`;

export class GroupsQuery extends AnalyticsQuery {
  @QueryPageNumber()
  readonly current_page: number = 0;

  @QueryPageSize()
  readonly page_size: number = 50;

  @QueryField(
    {
      type: String,
      pattern: `^${ANY_COLUMN}(?:,${ANY_COLUMN})*$`,
      description: 'Columns of the response. Commas separate them. Default: all.',
    },
    `must be a list of ${COLUMN_NAMES.join(', ')}`,
    (text) => {
      const names = text.split(',').map((name) => name.trim());
      return names.every(isColumn) ? names : undefined;
    },
  )
  readonly columns?: readonly ColumnName[];

  @QueryChoice(
    COLUMN_NAMES,
    'Column by which to sort. Default: `requests`.',
    `must be one of ${COLUMN_NAMES.join(', ')}`,
    { default: 'requests' },
  )
  readonly order_by: ColumnName = 'requests';

  @QueryField(
    { type: String, enum: ['asc', 'desc'], description: 'Direction of the sort. Default: `desc`.' },
    'must be "asc" or "desc"',
    (text) => (/^(?:asc|desc)$/i.test(text) ? text.toLowerCase() : undefined),
  )
  readonly order_by_type: 'asc' | 'desc' = 'desc';

  /** The total is shown in any case. */
  @QueryFlag('True counts the groups.', { isHidden: true })
  readonly include_total: boolean = false;
}
