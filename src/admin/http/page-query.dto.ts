import { QueryDto } from './query.dto.js';
import { QueryPageNumber, QueryPageSize, QueryWorkspace } from './query-fields.js';

/** The query of a list. `pageOf` of src/common/http/page.ts reads its range. */
export class PageQuery extends QueryDto {
  @QueryPageNumber()
  readonly current_page: number = 0;

  @QueryPageSize()
  readonly page_size: number = 50;
}

/** The query of an operation that may be narrowed to a workspace. */
export class WorkspaceQuery extends QueryDto {
  @QueryWorkspace()
  readonly workspace_id?: string;
}

/** The query of a list that may be narrowed to a workspace. */
export class WorkspacePageQuery extends PageQuery {
  @QueryWorkspace()
  readonly workspace_id?: string;
}
