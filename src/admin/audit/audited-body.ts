import type { IncomingHttpHeaders } from 'node:http';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { auditedWithin, isAudited } from '../dto-fields/audited.js';

const MASK = '***';
const KEY_IN_TEXT = /gw_(?:admin|ws|user)_[0-9A-Za-z]*/gi;
const LONGEST_TEXT = 500;
const MOST_ITEMS = 200;
/** A URL with credentials, a query or a fragment: each may contain a secret. */
const TELLING_URL = /^[a-z][a-z0-9+.-]*:.*[@?#]/i;

/** The request body as the audit trail keeps it. Null when there was none. */
export function auditedBody(body: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof body !== 'object' || body === null || Object.keys(body).length === 0) return null;
  const fields = Object.entries(body).slice(0, MOST_ITEMS);
  return Object.fromEntries(fields.map(([name, value]) => [shortened(name), auditedField(name, value)]));
}

function auditedField(name: string, value: unknown): unknown {
  if (isAudited(name)) return audited(value);
  const shown = auditedWithin(name);
  if (!shown) return MASK;
  return Array.isArray(value)
    ? value.slice(0, MOST_ITEMS).map((item) => auditedObject(item, shown))
    : auditedObject(value, shown);
}

/** Instead of an object any text may be sent, even a secret; null means that the field is removed. */
function auditedObject(value: unknown, shown: ReadonlySet<string>): unknown {
  if (value === null) return null;
  if (typeof value !== 'object') return MASK;
  const fields = Object.entries(value).slice(0, MOST_ITEMS);
  return Object.fromEntries(
    fields.map(([name, field]) => [shortened(name), shown.has(name) ? audited(field) : MASK]),
  );
}

function audited(value: unknown): unknown {
  if (typeof value === 'string') return auditedText(value);
  if (Array.isArray(value))
    return value.slice(0, MOST_ITEMS).map((item) => (typeof item === 'string' ? auditedText(item) : MASK));
  return typeof value === 'object' && value !== null ? MASK : value;
}

function auditedText(text: string): string {
  return looksLikeGatewayKey(text) || TELLING_URL.test(text) ? MASK : shortened(withoutKeys(text));
}

const withoutKeys = (text: string): string => text.replace(KEY_IN_TEXT, MASK);

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

/** Query parameters that are shown besides the fields of bodies: filters, and confirmations. */
const SHOWN_IN_QUERY: ReadonlySet<string> = new Set([
  'action',
  'after',
  'client_ip',
  'confirm',
  'current_page',
  'dry_run',
  'end_time',
  'method',
  'outcome',
  'page_size',
  'resource_type',
  'response_status_code',
  'slugs',
  'start_time',
  'type',
  'user_type',
]);

/** The query as the audit trail keeps it. Null when there was none. */
export function auditedQuery(query: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof query !== 'object' || query === null) return null;
  const parameters = Object.entries(query).slice(0, MOST_ITEMS);
  if (parameters.length === 0) return null;
  return Object.fromEntries(
    parameters.map(([name, value]) => [
      printable(withoutKeys(shortened(name))),
      isAudited(name) || SHOWN_IN_QUERY.has(name) ? printableValue(audited(value)) : MASK,
    ]),
  );
}

/** Headers that tell what a request was and where it came from. None of them carries a credential. */
const KEPT_HEADERS = [
  'content-type',
  'idempotency-key',
  'if-match',
  'origin',
  'user-agent',
  'x-forwarded-for',
  'x-gateway-workspace',
  'x-request-id',
] as const;

/** The headers that the audit trail keeps, by name. Null when there was none of them. */
export function auditedHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | null {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, printable(auditedText(String(value)))] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}

const printable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

const printableValue = (value: unknown): unknown =>
  typeof value === 'string' ? printable(value) : Array.isArray(value) ? value.map(printableValue) : value;

const LONGEST_PATH = 1024;

/** Characters of a decoded path that PostgreSQL cannot store, or that would break a line of output. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}]/gu;

/** The path without its query, and without a key that a client put into it. */
export function auditedPath(url: string): string {
  const [path = ''] = url.split('?');
  return printable(withoutKeys(path)).slice(0, LONGEST_PATH);
}
