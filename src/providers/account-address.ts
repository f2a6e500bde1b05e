import { AppError } from '../common/errors/app-error.js';
import type { Provider } from './provider.js';

type AddressFields = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{([a-z0-9-]+)\}/g;

/** Whether a custom host is an API without the parameters of `Provider.query`, such as Azure's `/openai/v1`. */
export function isHostWithoutQuery({ paths }: Provider, customHost: string | null): boolean {
  const host = customHost?.replace(/\/+$/, '');
  return host !== undefined && paths?.withoutQuery?.some((ending) => host.endsWith(ending)) === true;
}

/**
 * The fields of an account, with defaults for those that are missing. At a custom host without the parameters of `Provider.query`, those
 * for them are left out.
 */
export function fieldsOfAccount(
  provider: Provider,
  customHost: string | null,
  given: AddressFields,
): AddressFields {
  const fields = withDefaults(provider, given);
  if (!isHostWithoutQuery(provider, customHost)) return fields;
  const templates = Object.values(provider.query ?? {});
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !templates.includes(`{${name}}`)));
}

/** The fields, with defaults for those that are missing. */
function withDefaults(provider: Provider, given: AddressFields): AddressFields {
  const defaults = (provider.fields ?? []).flatMap(({ name, default: value }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return defaults.length === 0 ? given : { ...Object.fromEntries(defaults), ...given };
}

/** The base URL of an account. Throws `invalid_request` if the account's fields do not determine it. */
export function baseUrlOf(provider: Provider, fields: AddressFields): string {
  if (provider.baseUrl !== null) return filled(provider.baseUrl, provider, fields);
  throw new AppError('invalid_request', {
    detail: `The provider "${provider.id}" has no base URL of its own. Pin one in the virtual key (custom_host), or send x-gateway-custom-host.`,
  });
}

/** Query parameters of every request of the account, encoded, `a=b&c=d`; empty when there are none. */
export function accountQuery(provider: Provider, customHost: string | null, fields: AddressFields): string {
  if (isHostWithoutQuery(provider, customHost)) return '';
  return Object.entries(provider.query ?? {})
    .map(([name, value]) => `${name}=${encodeURIComponent(filled(value, provider, fields))}`)
    .join('&');
}

/** A template with the values of its fields; null if one of them is missing. */
export function filledOrNull(template: string, fields: AddressFields): string | null {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  if (names.some((name) => fields[name] === undefined)) return null;
  return template.replace(PLACEHOLDER, (_, name: string) => fields[name] ?? '');
}

/** Values were matched against their fields' patterns when they arrived in a header or were stored. */
function filled(template: string, provider: Provider, fields: AddressFields): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = fields[name];
    if (value !== undefined) return value;
    throw new AppError('invalid_request', {
      detail: `The provider "${provider.id}" needs x-gateway-${name}, or the field "${name}" of the virtual key.`,
    });
  });
}
