import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf } from '../../auth/credentials.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { Egress } from '../../common/egress/egress.js';
import { parseDestination } from '../../common/egress/destination.js';
import { Secret } from '../../common/crypto/secret.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Provider } from '../../providers/provider.js';
import { findProvider } from '../../providers/registry.js';
import type { GatewayHeaders } from '../door/gateway-headers.js';
import { VirtualKeyDirectory, type VirtualKeySnapshot } from '../ports.js';
import { baseUrlOf, fieldsFrom, queryOf, withDefaults } from './account.js';
import type { Target } from '../types/target.js';

/** What the plan is made of: who asks, and what was said of the way. */
export interface Asked {
  readonly caller: Principal;
  readonly headers: IncomingHttpHeaders;
  readonly options: GatewayHeaders;
  /** Slug that the model named, `@slug/model`. */
  readonly modelSlug: string | null;
}

/** Decides where a request goes: a virtual key, or a provider whose key the caller brings, at a custom host or not. */
@Injectable()
export class Planner {
  /** A target per virtual key as loaded: it changes only when the key is loaded anew. */
  private readonly stored = new WeakMap<VirtualKeySnapshot, Target>();

  constructor(
    private readonly virtualKeys: VirtualKeyDirectory,
    private readonly egress: Egress,
  ) {}

  /**
   * Returns without a promise when the virtual key is in memory. Rejects with `provider_missing`, `provider_unknown`, `not_found` (virtual key), `custom_host_invalid`,
   * `custom_host_blocked`, `gateway_key_in_authorization`.
   */
  plan(asked: Asked): Target | Promise<Target> {
    const { options, modelSlug } = asked;
    const slug = options.virtualKey ?? slugIn(options.provider) ?? modelSlug;
    if (slug !== null) return this.storedTarget(asked, slug);
    if (options.provider === null) throw new AppError('provider_missing');
    return this.ownTarget(asked, findProvider(options.provider));
  }

  private storedTarget({ caller, options }: Asked, slug: string): Target | Promise<Target> {
    const found = this.virtualKeys.find(reachOf(caller), slug.startsWith('@') ? slug.slice(1) : slug);
    return found instanceof Promise
      ? found.then((key) => this.targetOf(key, options))
      : this.targetOf(found, options);
  }

  private targetOf(key: VirtualKeySnapshot | null, options: GatewayHeaders): Target {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now()))
      throw new AppError('not_found', { resource: 'virtual key' });
    if (options.customHost !== null && options.customHost !== key.customHost)
      throw new AppError('invalid_request', {
        detail:
          'x-gateway-custom-host cannot be combined with a virtual key, unless that virtual key pins the same host.',
      });
    const known = this.stored.get(key);
    if (known) return known;
    const target = this.at(findProvider(key.providerId), key.customHost, {
      virtualKey: {
        id: key.id,
        slug: key.slug,
        ...(key.models ? { models: key.models } : {}),
        ...(key.prices ? { prices: key.prices } : {}),
      },
      credentials: key.credentials,
    });
    this.stored.set(key, target);
    return target;
  }

  private ownTarget({ headers, options }: Asked, provider: Provider): Target {
    const bearer = bearerOf(headers);
    if (provider.auth.header === 'authorization' && bearer && looksLikeGatewayKey(bearer))
      throw new AppError('gateway_key_in_authorization');
    const credentials = { key: ownKey(bearer, provider), fields: fieldsFrom(headers, provider) };
    return this.at(provider, options.customHost, { virtualKey: null, credentials });
  }

  private at(
    provider: Provider,
    customHost: string | null,
    rest: Pick<Target, 'virtualKey' | 'credentials'>,
  ): Target {
    const fields = withDefaults(provider, rest.credentials.fields);
    const url = customHost === null ? new URL(baseUrlOf(provider, fields)) : parseDestination(customHost);
    if (!provider.inProcess) this.egress.checkDestination(url);
    return {
      provider,
      origin: url.origin,
      // The sandbox has no address; its base URL is only a name.
      basePath: provider.inProcess ? '' : url.pathname.replace(/\/+$/, ''),
      query: queryOf(provider, fields),
      isCustomHost: customHost !== null,
      virtualKey: rest.virtualKey,
      credentials: { key: rest.credentials.key, fields },
    };
  }
}

/**
 * The provider's key that a caller brought as a bearer, where the provider wants it in another form. Null leaves the
 * caller's own headers as they are: it may have written the provider's form itself.
 */
function ownKey(bearer: string | null, { auth }: Provider): Secret | null {
  const isAsItShouldBe = auth.header === null || (auth.header === 'authorization' && auth.id === 'bearer');
  return isAsItShouldBe || bearer === null || looksLikeGatewayKey(bearer) ? null : new Secret(bearer);
}

/** A provider header may name a stored credential instead of a provider: `@slug`. */
function slugIn(provider: string | null): string | null {
  return provider?.startsWith('@') ? provider : null;
}
