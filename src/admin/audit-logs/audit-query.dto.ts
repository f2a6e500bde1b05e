import { isUuid } from '../../common/ids/uuid-v7.js';
import { type AuditRecord, RECORDED_METHODS } from '../audit/audit-record.entity.js';
import {
  MOMENT_FORMAT,
  QueryChoice,
  QueryField,
  QueryOrganization,
  QueryPageNumber,
  QueryPageSize,
} from '../http/query-fields.js';
import { QueryDto } from '../http/query.dto.js';

const LONGEST_VALUE = 2_048;

const AuditText = (description: string): PropertyDecorator =>
  QueryField({ type: String, description }, 'must be a string', (text) =>
    text.length <= LONGEST_VALUE ? text : undefined,
  );

const AuditChoice = (choices: readonly string[], description: string): PropertyDecorator =>
  QueryChoice(choices, description, `must be one of ${choices.join(', ')}`);

const AuditId = (description: string): PropertyDecorator =>
  QueryField({ type: String, format: 'uuid', description }, 'must be an id', (text) =>
    isUuid(text) ? text : undefined,
  );

const DATE_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const AuditTime = (description: string): PropertyDecorator =>
  QueryField(
    { type: String, description, ...MOMENT_FORMAT },
    'must be a date, or a date and time with its zone, such as 2030-01-31T12:00:00Z',
    (text) => {
      const at = DATE_TIME.test(text) ? new Date(text) : undefined;
      return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
    },
  );

const ACTORS = ['user', 'api_key'] as const;
const OUTCOMES = ['success', 'refused', 'failed'] as const satisfies AuditRecord['outcome'][];

/** The filters of the audit log. `audit-filters.ts` has the SQL of each. */
export class AuditFilterQuery extends QueryDto {
  @QueryOrganization()
  readonly organisation_id?: string;

  @AuditTime('Earliest time of the change: a date, or a date and time with its zone.')
  readonly start_time?: string;

  @AuditTime('Latest time of the change: a date, or a date and time with its zone.')
  readonly end_time?: string;

  @AuditChoice(RECORDED_METHODS, 'Includes only changes by requests with this HTTP method.')
  readonly method?: string;

  @AuditText('Includes only changes by requests to this path.')
  readonly uri?: string;

  @AuditText('Includes only the changes of the request with this id.')
  readonly request_id?: string;

  @AuditId('Includes only changes by the user or API key with this id.')
  readonly user_id?: string;

  @AuditChoice(ACTORS, 'Includes only changes by users, or only those by API keys.')
  readonly user_type?: (typeof ACTORS)[number];

  @AuditId('Includes only changes in the workspace with this id.')
  readonly workspace_id?: string;

  @QueryField(
    {
      type: String,
      pattern: '^[1-5]\\d\\d$',
      example: '403',
      description: 'Includes only changes whose response had this HTTP status.',
    },
    'must be a status code',
    (text) => (/^[1-5]\d{2}$/.test(text) ? Number(text) : undefined),
  )
  readonly response_status_code?: number;

  @AuditText('Includes only changes of this kind of resource, such as `virtual_keys`.')
  readonly resource_type?: string;

  @AuditText('Includes only changes of this kind, such as `create`.')
  readonly action?: string;

  @AuditText('Includes only changes from this IP address.')
  readonly client_ip?: string;

  @AuditText('Includes only changes from this country.')
  readonly country?: string;

  @AuditChoice(OUTCOMES, 'Includes only changes with this outcome.')
  readonly outcome?: (typeof OUTCOMES)[number];
}

export class ListAuditLogsQuery extends AuditFilterQuery {
  @QueryPageNumber()
  readonly current_page: number = 0;

  @QueryPageSize()
  readonly page_size: number = 50;
}

export class VerifyAuditLogsQuery extends QueryDto {
  @QueryField(
    {
      type: 'integer',
      minimum: 0,
      default: 0,
      description:
        'Number of the record before the part to check: `next_after` of the previous part. Default: 0.',
    },
    'must be a whole number of zero or more',
    (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  )
  readonly after: number = 0;
}
