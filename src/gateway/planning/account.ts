import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import { accountQuery, fieldsOfAccount, isHostWithoutQuery } from '../../providers/account-address.js';
import type { AccountField, Provider } from '../../providers/provider.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { beginsWith, type RequestPath, writtenPath } from '../types/request-path.js';

export type AccountValues = Readonly<Record<string, string>>;

export const NO_FIELDS: AccountValues = {};

/** The account fields that a caller sets itself, in `x-gateway-<name>`. Throws `header_invalid`. */
export function fieldsFrom(headers: IncomingHttpHeaders, { fields }: Provider): AccountValues {
  if (!fields) return NO_FIELDS;
  const given = fields
    .filter(({ isStoredOnly }) => !isStoredOnly)
    .map((field) => [field.name, readField(headers, field)] as const);
  return Object.fromEntries(given.filter((entry): entry is readonly [string, string] => entry[1] !== null));
}

/**
 * The account fields of a config. Headers that carry an account need no field of the provider's. Throws `config_invalid`: a value may
 * become part of a host or a path.
 */
export function accountOf({ fields = [] }: Provider, account: AccountValues): AccountValues {
  for (const { name, title, pattern, example } of fields) {
    const value = account[name];
    if (value === undefined || pattern.test(value)) continue;
    const field = name.replaceAll('-', '_');
    throw new AppError('config_invalid', { detail: `"${field}" must be ${title}, such as ${example}` });
  }
  return account;
}

function readField(
  headers: IncomingHttpHeaders,
  { name, title, pattern, example }: AccountField,
): string | null {
  const value = gatewayOption(headers, name);
  if (value === null || pattern.test(value)) return value;
  throw new AppError('header_invalid', {
    header: `x-gateway-${name}`,
    detail: `${title}, such as ${example}`,
  });
}

/** Where a request goes: its path, absent for one of the gateway's own, and a custom host. */
interface RequestAddress {
  readonly path?: RequestPath | undefined;
  readonly customHost: string | null;
}

/** The account's query parameters, encoded, `a=b&c=d`; empty when there are none. */
export function queryOf(
  provider: Provider,
  fields: AccountValues,
  { path, customHost }: RequestAddress,
): string {
  if (!provider.query || takesNoQuery(provider, path)) return '';
  return accountQuery(provider, customHost, fields);
}

/** The fields of an account for one request, whose query may override them. */
export function fieldsAt(
  provider: Provider,
  customHost: string | null,
  {
    credentials,
    path,
  }: { readonly credentials: { readonly fields: AccountValues }; readonly path?: RequestPath | undefined },
): AccountValues {
  const fields = fieldsOfAccount(provider, customHost, credentials.fields);
  return isHostWithoutQuery(provider, customHost) ? fields : withQuery(provider, fields, path);
}

const takesNoQuery = ({ paths }: Provider, path: RequestPath | undefined): boolean =>
  path !== undefined && !path.isProxied && beginsWith(writtenPath(path), paths?.withoutQuery);

/** Whether a request's path or query changes the account's additions. */
export const changesAccount = (
  provider: Provider,
  fields: AccountValues,
  path: RequestPath | undefined,
): boolean => withQuery(provider, fields, path) !== fields || takesNoQuery(provider, path);

/**
 * The account fields, overridden by the request's own parameters: a client that sends `api-version` itself means that version. A value that
 * the field does not allow is not used here, but goes to the provider all the same. Returns the same object if nothing changes.
 */
function withQuery(provider: Provider, fields: AccountValues, path: RequestPath | undefined): AccountValues {
  if (!path || path.query === '' || !provider.query) return fields;
  const values = new Map(
    [...new URLSearchParams(path.query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const found = Object.entries(provider.query).flatMap(([name, template]) => {
    const value = values.get(name);
    const field = provider.fields?.find((each) => template === `{${each.name}}`);
    if (value === undefined || !field?.pattern.test(value) || fields[field.name] === value) return [];
    return [[field.name, value] as const];
  });
  return found.length === 0 ? fields : { ...fields, ...Object.fromEntries(found) };
}
