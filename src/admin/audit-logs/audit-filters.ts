import type { AuditFilterQuery } from './audit-query.dto.js';

/** A condition of a query: its parameter, and SQL that refers to it only by the given placeholder. */
export interface AuditCondition {
  readonly sql: (placeholder: string) => string;
  readonly parameter: unknown;
}

type AuditFilterName = Exclude<keyof AuditFilterQuery, 'organisation_id'>;

const equal =
  (column: string): AuditCondition['sql'] =>
  (placeholder) =>
    `${column} = ${placeholder}::text`;

/** The filters of the audit log, under the names of the compatible API, and by outcome. */
const CONDITIONS: Readonly<Record<AuditFilterName, AuditCondition['sql']>> = {
  start_time: (placeholder) => `at >= ${placeholder}::timestamptz`,
  end_time: (placeholder) => `at <= ${placeholder}::timestamptz`,
  method: equal('method'),
  uri: equal('path'),
  request_id: equal('request_id'),
  user_id: (placeholder) => `${placeholder}::uuid IN (actor_id, user_id)`,
  user_type: (placeholder) => `(actor_kind = 'person') = (${placeholder}::text = 'user')`,
  workspace_id: (placeholder) => `workspace_id = ${placeholder}::uuid`,
  response_status_code: (placeholder) => `status = ${placeholder}::integer`,
  resource_type: equal('target_type'),
  action: (placeholder) => `${placeholder}::text IN (action, split_part(action, '.', 2))`,
  client_ip: equal('ip'),
  /** Records have no country. */
  country: (placeholder) => `${placeholder}::text IS NULL`,
  outcome: equal('outcome'),
};

/** The conditions of a request's filters. */
export const auditConditions = (query: AuditFilterQuery): AuditCondition[] =>
  (Object.entries(CONDITIONS) as [AuditFilterName, AuditCondition['sql']][]).flatMap(([name, sql]) =>
    query[name] === undefined ? [] : [{ sql, parameter: query[name] }],
  );
