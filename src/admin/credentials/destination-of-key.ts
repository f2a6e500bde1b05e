import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { parseDestination } from '../../common/net/destination.js';
import type { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { isHostWithoutQuery } from '../../providers/account-address.js';
import { WORKLOAD_IDENTITY } from '../../providers/auth-scheme.js';
import type { AccountField, Provider } from '../../providers/provider.js';
import { findProvider } from '../../providers/catalog/registry.js';
import { fieldError, invalidField } from '../../common/errors/field-errors.js';

/** The destination of a virtual key, as a client names it. */
export interface RequestedDestination {
  readonly provider: string;
  readonly customHost: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The client's name of a field, if not `fields.<name>`: for error messages. */
  readonly sentAs?: ((field: string) => string) | undefined;
  /** Fields that a secret reference provides. */
  readonly mapped?: ReadonlySet<string> | undefined;
}

/** The destination of a virtual key. Its secret may be sent nowhere else. */
export interface Destination {
  readonly provider: Provider;
  readonly customHost: string | null;
  readonly fields: Record<string, string>;
}

/** The provider with that id, for modules that may not import the catalogue. Throws `provider_unknown`. */
export const providerOf = (id: string): Provider => findProvider(id);

/** Checks whether an address is allowed. */
type DestinationCheck = Pick<Egress, 'checkDestination'>;

/**
 * Checks a destination against the provider's row. Throws `provider_unknown`, `custom_host_invalid`, `custom_host_blocked`, and
 * `invalid_request` for unknown, missing or malformed fields, and for a missing custom host if the provider has no address of its own.
 */
export function readDestination(requested: RequestedDestination, egress: DestinationCheck): Destination {
  const provider = findProvider(requested.provider);
  const customHost = readCustomHost(requested, provider, egress);
  const fields = readFields(requested, provider);
  checkNoneMissing({ ...requested, fields, customHost }, provider);
  return { provider, customHost, fields };
}

/** The base URL as stored: without a trailing slash. */
function readCustomHost(
  { customHost: text, sentAs }: RequestedDestination,
  provider: Provider,
  egress: DestinationCheck,
): string | null {
  if (text === null) {
    if (provider.baseUrl === null)
      refuse(
        `The provider "${provider.id}" has no base URL of its own. Send one in the field "${sentAs?.('custom-host') ?? 'custom_host'}".`,
      );
    return null;
  }
  if (provider.inProcess)
    refuse(`The provider "${provider.id}" accepts no custom host: it runs inside the gateway.`);
  const url = parseDestination(text);
  egress.checkDestination(url);
  return url.href.replace(/\/+$/, '');
}

/** Values of account headers without a rule in the provider's row. */
const HEADER_VALUE = /^[A-Za-z0-9][A-Za-z0-9._=,-]{0,127}$/;
const HEADER_RULE = '1 to 128 letters, digits and . _ = , -';
/** More than any row allows; longer values are not even compared. */
const LONGEST_VALUE = 2048;
const LONGEST_SHOWN = 64;

/** Checks the fields against those of the provider's row. */
function readFields(
  { fields: given, sentAs }: RequestedDestination,
  provider: Provider,
): Record<string, string> {
  const rules = rulesOf(provider);
  const read = Object.entries(given).map(([name, value]): [string, string] => {
    const rule = rules.get(name);
    const shown = (sentAs?.(name) ?? name).slice(0, LONGEST_SHOWN);
    if (!rule) refuse(`The provider "${provider.id}" has no field "${shown}".`);
    return [name, readField((sentAs ?? asField)(name), value, rule)];
  });
  return Object.fromEntries(read);
}

/** A field that is only part of the base URL, or of a query that a custom host does not take, is not needed there. */
function checkNoneMissing(
  { fields, customHost, sentAs = asField, mapped }: RequestedDestination,
  provider: Provider,
): void {
  const { id, fields: described = [], baseUrl, query = {} } = provider;
  const takesNone = isHostWithoutQuery(provider, customHost);
  const all = [baseUrl, ...Object.values(query)];
  const used = [customHost === null ? baseUrl : null, ...(takesNone ? [] : Object.values(query))];
  const isIn = (texts: readonly (string | null)[], name: string): boolean =>
    texts.some((text) => text?.includes(`{${name}}`));
  const isReplaced = (name: string): boolean => isIn(all, name) && !isIn(used, name);
  const hasIdentity = Object.hasOwn(fields, WORKLOAD_IDENTITY);
  const missing = described.find(
    ({ name, isRequired, belongsToKey }) =>
      isRequired &&
      !(belongsToKey && hasIdentity) &&
      !Object.hasOwn(fields, name) &&
      !mapped?.has(name) &&
      !isReplaced(name),
  );
  if (missing)
    refuse(
      `The provider "${id}" needs the field "${sentAs(missing.name)}" (${missing.title}), for instance "${missing.example}".`,
    );
}

const asField = (name: string): string => `fields.${name}`;

/** A pattern for a value, and its description. */
interface FieldRule {
  readonly pattern: RegExp;
  readonly words: string;
}

function rulesOf({ fields = [], accountHeaders = [] }: Provider): ReadonlyMap<string, FieldRule> {
  const headers = accountHeaders.map(({ field }): [string, FieldRule] => [
    field,
    { pattern: HEADER_VALUE, words: HEADER_RULE },
  ]);
  return new Map([...headers, ...fields.map((field): [string, FieldRule] => [field.name, ruleOf(field)])]);
}

const ruleOf = ({ pattern, title, example }: AccountField): FieldRule => ({
  pattern,
  words: `something like "${example}" (${title})`,
});

function readField(name: string, value: unknown, { pattern, words }: FieldRule): string {
  if (typeof value === 'string' && value.length <= LONGEST_VALUE && pattern.test(value)) return value;
  throw invalidField(name, `it must be ${words}`);
}

/** Checks that there is a secret if one is required. A gateway key here is a mistake that would leak it to the provider. */
export function checkSecret(secret: string | undefined, provider: Provider, reason: string): void {
  if (secret === undefined && provider.auth.id !== 'none')
    throw new AppError('credential_required', { detail: reason, parameter: 'key' });
  if (secret !== undefined && looksLikeGatewayKey(secret))
    throw fieldError('key', "carries a gateway key where the provider's own key belongs");
}

function refuse(detail: string): never {
  throw new AppError('invalid_request', { detail });
}
