import type { IncomingHttpHeaders } from 'node:http';
import { mistypedHeader } from '../../auth/identity/mistyped-header.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { providers } from '../../providers/catalog/registry.js';
import type { UsableKeys } from '../ports.js';

const LONGEST_SHOWN = 100;
/** Options that name a target, as written after `x-gateway-`. */
const TARGETS = ['virtual-key', 'provider', 'config'];

/** The request, as far as it says what was meant. */
interface NamingRequest {
  readonly headers: IncomingHttpHeaders;
  readonly model?: string | null;
}

/** The error for a request that names no target, with what it may have meant. */
export function providerMissing({ headers, model }: NamingRequest): AppError {
  return new AppError('provider_missing', { hint: headerHint(headers) || modelHint(model ?? '') });
}

function headerHint(headers: IncomingHttpHeaders): string {
  const mistyped = mistypedHeader(headers, TARGETS);
  return mistyped === null ? '' : `: ${mistyped}`;
}

/** Other gateways name the provider in the model: `openai/gpt-4o-mini`. */
function modelHint(model: string): string {
  const shown = model.slice(0, LONGEST_SHOWN);
  const slash = model.indexOf('/');
  if (model.startsWith('@')) return `: the model "${shown}" must be written as "${formOf(shown)}"`;
  const provider = model.slice(0, Math.max(slash, 0));
  if (!providers.has(provider)) return '';
  return `: for the model "${shown}", send x-gateway-provider: ${provider} and the model "${shown.slice(slash + 1)}"`;
}

/** `@openai-prod/<model>`, with the virtual key that was named. */
const formOf = (model: string): string => `${/^@[^/]+/.exec(model)?.[0] ?? '@<virtual key>'}/<model>`;

/**
 * The error for a virtual key that is not within reach, with the nearest that is. It depends on nothing else, so it does not reveal whether
 * another workspace has the key.
 */
export async function virtualKeyUnknown(
  name: string,
  { caller }: { readonly caller: Principal },
  usable: UsableKeys,
): Promise<AppError> {
  // Without the store, the plain error is still right.
  const keys = await Promise.resolve(usable.find(reachOf(caller))).catch(() => []);
  const near = didYouMean(
    name.slice(0, LONGEST_SHOWN),
    keys.map(({ slug }) => slug),
  );
  const hint = near === '' && providers.has(name) ? OF_A_PROVIDER : near;
  return new AppError('not_found', { resource: `virtual key "${name}" in this workspace${hint}` });
}

const OF_A_PROVIDER = '; to name a provider, send x-gateway-provider with its key in Authorization';
