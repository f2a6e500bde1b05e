import { Alias } from '../http/query.dto.js';
import { QueryFlag, QueryPageSize, QueryText, QueryWorkspace } from '../http/query-fields.js';
import { LogFilterQuery } from '../dto-fields/log-filter-query.dto.js';

/** The query of the live stream. */
export class WatchLogsQuery extends LogFilterQuery {
  @QueryWorkspace()
  @Alias('workspace_slug')
  readonly workspace_id?: string;
}

export class ListLogsQuery extends WatchLogsQuery {
  @QueryText('Cursor from `next_cursor` of the previous page. Default: the first page.')
  readonly cursor?: string;

  @QueryPageSize()
  readonly page_size: number = 50;

  @QueryFlag('True counts the matching requests, up to 10,001. Default: false.')
  readonly include_total: boolean = false;

  /** The search checks its length. */
  @QueryText(
    'Text to find in the bodies of requests and responses, in any case: 3 to 256 characters. It needs the scope `logs.view`, the setting `GATEHOUSE_BODY_SEARCH`, and a time range of at most 31 days.',
    { minLength: 3, maxLength: 256 },
  )
  readonly search?: string;
}
