import { REFUSAL_REASONS, type RefusalReason } from '../../auth/identity/recent-refusals.js';
import { PageQuery } from '../http/page-query.dto.js';
import { QueryChoice } from '../http/query-fields.js';

export class ListRefusedCredentialsQuery extends PageQuery {
  @QueryChoice(
    REFUSAL_REASONS,
    'Includes only requests that were refused for this reason.',
    `must be one of ${REFUSAL_REASONS.join(', ')}`,
  )
  readonly reason?: RefusalReason;
}
