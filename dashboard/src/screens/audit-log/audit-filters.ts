import type { Filter, FilterField, Operator } from '../../parts/filters/filter';
import { auditWords } from '../../words/audit';

const { filters: names, outcomes } = auditWords;
const EQUAL: readonly Operator[] = ['is'];

const PARAMETERS: Readonly<Record<string, string>> = {
  result: 'outcome',
  action: 'action',
  resource: 'resource_type',
  ip: 'client_ip',
  user: 'user_id',
  request: 'request_id',
  method: 'method',
};

export const AUDIT_FIELDS: readonly FilterField[] = [
  {
    key: 'result',
    label: names.outcome,
    operators: EQUAL,
    options: Object.entries(outcomes).map(([value, label]) => ({ value, label })),
  },
  { key: 'action', label: names.action, operators: EQUAL },
  { key: 'resource', label: names.resource, operators: EQUAL },
  { key: 'ip', label: names.ip, operators: EQUAL },
  { key: 'user', label: names.user, operators: EQUAL },
  { key: 'request', label: names.request, operators: EQUAL },
  {
    key: 'method',
    label: names.method,
    operators: EQUAL,
    options: ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'].map((value) => ({ value, label: value })),
  },
];

/** The parameters of `GET /v1/audit-logs`. Of two filters on one field, the later one applies. */
export const conditionsOf = (filters: readonly Filter[]): Readonly<Record<string, string>> =>
  Object.fromEntries(filters.map(({ field, value }) => [PARAMETERS[field] ?? field, value]));
