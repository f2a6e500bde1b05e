import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { parseDestination } from '../../common/egress/destination.js';
import type { Egress } from '../../common/egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Provider } from '../../providers/provider.js';
import { findProvider } from '../../providers/registry.js';

/** Where a virtual key leads, as a client says it. */
export interface WantedDestination {
  readonly provider: string;
  readonly customHost: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Where a virtual key leads. Its secret may go there and nowhere else. */
export interface Destination {
  readonly provider: Provider;
  readonly customHost: string | null;
  readonly fields: Record<string, string>;
}

export function readDestination(wanted: WantedDestination, egress: Egress): Destination {
  const provider = findProvider(wanted.provider);
  return {
    provider,
    customHost: wanted.customHost === null ? null : readCustomHost(wanted.customHost, provider, egress),
    fields: readFields(wanted.fields, provider),
  };
}

/** The base URL in the one spelling in which it is stored: without a slash at its end. */
function readCustomHost(text: string, provider: Provider, egress: Egress): string {
  if (provider.inProcess)
    throw new AppError('invalid_request', {
      detail: `The provider "${provider.id}" has no address to replace.`,
    });
  const url = parseDestination(text);
  egress.checkDestination(url);
  return url.href.replace(/\/+$/, '');
}

/** Values of account fields become request headers upstream. */
const FIELD_VALUE = /^[A-Za-z0-9][A-Za-z0-9._=-]{0,127}$/;
const LONGEST_SHOWN = 64;

/** Checks the fields against those that the provider's row names. */
function readFields(given: Readonly<Record<string, unknown>>, provider: Provider): Record<string, string> {
  const known = new Set((provider.accountHeaders ?? []).map(({ field }) => field));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!known.has(name))
        throw new AppError('invalid_request', {
          detail: `The provider "${provider.id}" has no field "${name.slice(0, LONGEST_SHOWN)}".`,
        });
      return [name, readField(name, value)];
    }),
  );
}

function readField(name: string, value: unknown): string {
  if (typeof value === 'string' && FIELD_VALUE.test(value)) return value;
  throw new AppError('invalid_request', {
    detail: `The field "fields.${name}" is not acceptable: it must be 1 to 128 letters, digits and . _ = -`,
  });
}

/**
 * Checks that there is a secret where one is needed. A gateway key in its place is a mistake that would send it out of
 * the house.
 */
export function checkSecret(secret: string | undefined, provider: Provider, reason: string): void {
  if (secret === undefined && provider.auth.id !== 'none')
    throw new AppError('credential_required', { detail: reason });
  if (secret !== undefined && looksLikeGatewayKey(secret))
    throw new AppError('invalid_request', {
      detail: 'The field "key" carries a gateway key where the provider\'s own key belongs.',
    });
}
