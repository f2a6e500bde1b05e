import { type ListQuery, parameterOf } from '../../common/http/page.js';
import { parameterError } from '../../common/errors/field-errors.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { RECORDED_METHODS } from '../audit/audit-record.entity.js';

/** A condition of a query: its parameter, and SQL that refers to it only by the given placeholder. */
export interface AuditCondition {
  readonly sql: (placeholder: string) => string;
  readonly parameter: unknown;
}

interface Filter {
  readonly sql: AuditCondition['sql'];
  /** Parses the parameter; undefined rejects it. */
  readonly read: (text: string) => unknown;
  readonly expects: string;
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const moment = (operator: '>=' | '<='): Filter => ({
  sql: (placeholder) => `at ${operator} ${placeholder}::timestamptz`,
  read: (text) => {
    const at = DATE_TIME.test(text) ? new Date(text) : undefined;
    return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
  },
  expects: 'a date, or a date and time with its zone, such as 2030-01-31T12:00:00Z',
});

const equal = (column: string): Filter => ({
  sql: (placeholder) => `${column} = ${placeholder}::text`,
  read: (text) => text,
  expects: 'a string',
});

const oneOf = (sql: Filter['sql'], ...values: readonly string[]): Filter => ({
  sql,
  read: (text) => (values.includes(text) ? text : undefined),
  expects: `one of ${values.join(', ')}`,
});

const id = (sql: Filter['sql']): Filter => ({
  sql,
  read: (text) => (isUuid(text) ? text : undefined),
  expects: 'an id',
});

/** The filters of the audit log, under the names of the compatible API, and by outcome. */
export const AUDIT_FILTERS = {
  start_time: moment('>='),
  end_time: moment('<='),
  method: oneOf((placeholder) => `method = ${placeholder}::text`, ...RECORDED_METHODS),
  uri: equal('path'),
  request_id: equal('request_id'),
  user_id: id((placeholder) => `${placeholder}::uuid IN (actor_id, user_id)`),
  user_type: oneOf(
    (placeholder) => `(actor_kind = 'person') = (${placeholder}::text = 'user')`,
    'user',
    'api_key',
  ),
  workspace_id: id((placeholder) => `workspace_id = ${placeholder}::uuid`),
  response_status_code: {
    sql: (placeholder) => `status = ${placeholder}::integer`,
    read: (text) => (/^[1-5]\d{2}$/.test(text) ? Number(text) : undefined),
    expects: 'a status code',
  },
  resource_type: equal('target_type'),
  action: {
    ...equal('action'),
    sql: (placeholder) => `${placeholder}::text IN (action, split_part(action, '.', 2))`,
  },
  client_ip: equal('ip'),
  /** Records have no country. */
  country: {
    sql: (placeholder) => `${placeholder}::text IS NULL`,
    read: (text) => text,
    expects: 'a string',
  },
  outcome: oneOf((placeholder) => `outcome = ${placeholder}::text`, 'success', 'refused', 'failed'),
} as const satisfies Record<string, Filter>;

const LONGEST_VALUE = 2_048;

/** Reads the filters of a request. The remaining parameters belong to the page. */
export function auditConditions(query: ListQuery): AuditCondition[] {
  return Object.keys(query)
    .filter(isFilter)
    .flatMap((name) => conditionOf(name, parameterOf(query, name) ?? ''));
}

function isFilter(name: string): name is keyof typeof AUDIT_FILTERS {
  return Object.hasOwn(AUDIT_FILTERS, name);
}

function conditionOf(name: keyof typeof AUDIT_FILTERS, text: string): AuditCondition {
  const { sql, read, expects }: Filter = AUDIT_FILTERS[name];
  const parameter = text.length <= LONGEST_VALUE && !text.includes('\0') ? read(text) : undefined;
  if (parameter === undefined) throw parameterError(name, `must be ${expects}`);
  return { sql, parameter };
}
