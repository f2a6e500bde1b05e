import { Injectable } from '@nestjs/common';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import type { UnsupportedParameterRule } from '../../common/contracts/upstream-rules.js';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf, isGatewayCredential } from '../../auth/identity/credentials.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { Egress } from '../../egress/egress.js';
import { parseDestination } from '../../common/net/destination.js';
import { Secret } from '../../common/settings/secret.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Provider } from '../../providers/provider.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { GatewayHeaders } from '../types/gateway-headers.js';
import { UsableKeys, VirtualKeyDirectory, type VirtualKeySnapshot } from '../ports.js';
import { bringsCredential } from '../upstream/forwarded-headers.js';
import type { PlannedTarget, TargetAccount } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { baseUrlOf } from '../../providers/account-address.js';
import {
  accountOf,
  changesAccount,
  type AccountValues,
  fieldsAt,
  fieldsFrom,
  NO_FIELDS,
  queryOf,
} from './account.js';
import type { RequestPath } from '../types/request-path.js';
import { providerMissing, virtualKeyUnknown } from './unplanned.js';

/** Input of the plan: the caller, and everything that names a destination. */
export interface TargetRequest {
  readonly caller: Principal;
  readonly headers: IncomingHttpHeaders;
  readonly options: GatewayHeaders;
  /** Slug that the model named, `@slug/model`. */
  readonly modelSlug: string | null;
  /** The model as sent, for the error of a request without a target. */
  readonly model?: string | null;
  /** The target of the config, which precedes all of these. */
  readonly planned: PlannedTarget;
  /** Absent for a request of the gateway's own. */
  readonly path?: RequestPath;
}

/**
 * Whether an attempt is read to its end although its client has disconnected: by the config, or else the virtual key, or else the
 * workspace.
 */
export function finishesWithoutClient(planned: PlannedTarget, target: Target, caller: Principal): boolean {
  const rule =
    planned.onClientDisconnect ?? target.virtualKey?.onClientDisconnect ?? caller.onClientDisconnect;
  return rule === 'finish';
}

/**
 * What happens to parameters that the target does not support: by the request's header, or else the config, or else the virtual key; null
 * where none of them decides.
 */
export const unsupportedRule = (
  planned: PlannedTarget,
  target: Target,
  options: GatewayHeaders,
): UnsupportedParameterRule | null =>
  options.unsupportedParameters ??
  planned.unsupportedParameters ??
  target.virtualKey?.unsupportedParameters ??
  null;

/** AWS refuses an expired key with 403. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** A provider that a config names without a key. */
type KeylessAccount = Pick<Extract<TargetAccount, { readonly account: object }>, 'account' | 'isOnlyOne'>;

/** Resolves the target of a request: a virtual key, or a provider with the caller's own key, with or without a custom host. */
@Injectable()
export class Planner {
  /** A target per loaded virtual key: it changes only when the key is reloaded. */
  private readonly stored = new WeakMap<VirtualKeySnapshot, Target>();
  /** A target per config entry with a key: it changes only with the config. */
  private readonly written = new WeakMap<TargetAccount, Target>();

  constructor(
    private readonly virtualKeys: VirtualKeyDirectory,
    private readonly egress: Egress,
    private readonly usable: UsableKeys,
  ) {}

  /**
   * Returns without a promise when the virtual key is in memory. Rejects with `provider_missing`, `provider_unknown`, `not_found` (virtual
   * key), `custom_host_invalid`, `custom_host_blocked`, `gateway_key_in_authorization`.
   */
  plan(request: TargetRequest): Target | Promise<Target> {
    const { planned } = request;
    const target = planned.where ? this.namedTarget(request, planned.where) : this.requestedTarget(request);
    const { forwarded } = planned;
    if (forwarded === null) return target;
    return mapMaybePromise(target, (one) => forwarding(one, forwarded, request.headers));
  }

  /** Notes the status of a response: a refused credential that comes from a secret manager may have been rotated there. */
  noteStatus({ virtualKey }: Target, status: number): void {
    if (virtualKey && CREDENTIAL_REFUSED.has(status)) this.virtualKeys.credentialRefused(virtualKey.id);
  }

  /** The target that the request names. */
  private requestedTarget(request: TargetRequest): Target | Promise<Target> {
    const { options, modelSlug } = request;
    const slug = options.virtualKey ?? slugIn(options.provider) ?? modelSlug;
    if (slug !== null) return this.storedTarget(request, slug);
    if (options.provider === null) throw providerMissing(request);
    return { ...this.ownTarget(request, findProvider(options.provider)), usesCallersKey: true };
  }

  /** The target that the config names. */
  private namedTarget(request: TargetRequest, where: TargetAccount): Target | Promise<Target> {
    if (where.virtualKey !== undefined) return this.storedTarget(request, where.virtualKey);
    const { key, account } = where;
    const provider = findProvider(where.provider);
    if (key === null) return this.keylessTarget(request, provider, where);
    const isAsWritten =
      request.options.customHost === null && !changesAccount(provider, account, request.path);
    const known = isAsWritten ? this.written.get(where) : undefined;
    if (known) return known;
    const credentials = { key, fields: accountOf(provider, account) };
    const target = this.at(provider, hostOf(request), { virtualKey: null, credentials, path: request.path });
    if (isAsWritten) this.written.set(where, target);
    return target;
  }

  /**
   * The caller's own key is sent to the provider that it names beside it, or else to the only one that the config names without a key. Any
   * other provider must not receive it.
   */
  private keylessTarget(
    request: TargetRequest,
    provider: Provider,
    { account, isOnlyOne }: KeylessAccount,
  ): Target {
    const named = request.options.provider;
    const isMeant = named !== null && !named.startsWith('@') ? named === provider.id : isOnlyOne;
    const target = this.ownTarget(request, provider, account);
    if (isMeant) return { ...target, usesCallersKey: true };
    if (provider.auth.header !== null)
      throw new AppError('credential_missing', { provider: provider.id, target: request.planned.path });
    return { ...target, isAnonymous: true };
  }

  private storedTarget(request: TargetRequest, slug: string): Target | Promise<Target> {
    const name = slug.startsWith('@') ? slug.slice(1) : slug;
    const found = this.virtualKeys.find(reachOf(request.caller), name);
    return mapMaybePromise(found, (key) => this.targetOf(key, name, request));
  }

  private targetOf(
    key: VirtualKeySnapshot | null,
    name: string,
    request: TargetRequest,
  ): Target | Promise<Target> {
    if (!key || (key.expiresAt !== null && key.expiresAt <= Date.now()))
      return virtualKeyUnknown(name, request, this.usable).then((error) => Promise.reject(error));
    checkPinned(key, hostOf(request));
    const known = this.stored.get(key);
    const provider = known?.provider ?? findProvider(key.providerId);
    const { credentials } = key;
    const isAsStored = !provider.query || !changesAccount(provider, credentials.fields, request.path);
    if (known && isAsStored) return known;
    const account = { virtualKey: virtualKeyOf(key), credentials, path: request.path };
    const target = this.at(provider, key.customHost, account);
    if (isAsStored) this.stored.set(key, target);
    return target;
  }

  /** The caller sends the key, and the account fields that its config does not set. */
  private ownTarget(request: TargetRequest, provider: Provider, account: AccountValues = NO_FIELDS): Target {
    const { headers } = request;
    const bearer = bearerOf(headers);
    const isOurs = bearer !== null && isGatewayCredential(bearer, headers);
    if (provider.auth.header === 'authorization' && isOurs)
      throw new AppError('gateway_key_in_authorization');
    const fields = fieldsFrom(headers, provider);
    const credentials = {
      key: ownKey(isOurs ? null : bearer, provider),
      fields: account === NO_FIELDS ? fields : { ...fields, ...accountOf(provider, account) },
    };
    return this.at(provider, hostOf(request), { virtualKey: null, credentials, path: request.path });
  }

  private at(
    provider: Provider,
    customHost: string | null,
    rest: Pick<Target, 'virtualKey' | 'credentials'> & Pick<TargetRequest, 'path'>,
  ): Target {
    const fields = fieldsAt(provider, customHost, rest);
    const url = customHost === null ? new URL(baseUrlOf(provider, fields)) : parseDestination(customHost);
    if (!provider.inProcess) this.egress.checkDestination(url);
    return {
      provider,
      origin: url.origin,
      // The sandbox has no address; its base URL is only a name.
      basePath: provider.inProcess ? '' : url.pathname.replace(/\/+$/, ''),
      query: queryOf(provider, fields, { path: rest.path, customHost }),
      isCustomHost: customHost !== null,
      forwarded: null,
      virtualKey: rest.virtualKey,
      credentials: { ...rest.credentials, fields },
    };
  }
}

/** A target whose config forwards headers of the client, possibly with its credential. */
function forwarding(target: Target, forwarded: ReadonlySet<string>, headers: IncomingHttpHeaders): Target {
  const isForwarded = bringsCredential({ headers }, { ...target, forwarded });
  return { ...target, forwarded, ...(isForwarded && { usesCallersKey: true }) };
}

function checkPinned(key: VirtualKeySnapshot, customHost: string | null): void {
  if (customHost === null || customHost === key.customHost) return;
  throw new AppError('invalid_request', {
    detail:
      'A custom host cannot be combined with a virtual key, unless that virtual key pins the same host.',
  });
}

/** The request's own host comes first. */
function hostOf({ options, planned }: TargetRequest): string | null {
  return options.customHost ?? planned.customHost;
}

/**
 * The provider key that a caller sent as a bearer token, if the provider requires another form. Null leaves the caller's own headers as
 * they are: they may already have the provider's form.
 */
function ownKey(bearer: string | null, { auth }: Provider): Secret | null {
  const isAsItShouldBe = auth.header === null || (auth.header === 'authorization' && auth.id === 'bearer');
  return isAsItShouldBe || bearer === null ? null : new Secret(bearer);
}

/** A provider header may name a stored credential instead of a provider: `@slug`. */
function slugIn(provider: string | null): string | null {
  return provider?.startsWith('@') ? provider : null;
}

function virtualKeyOf(key: VirtualKeySnapshot): Target['virtualKey'] {
  const { id, slug, limits, models, prices, onClientDisconnect, unsupportedParameters } = key;
  return {
    id,
    slug,
    ...(limits ? { limits } : {}),
    ...(models ? { models } : {}),
    ...(prices ? { prices } : {}),
    ...(onClientDisconnect ? { onClientDisconnect } : {}),
    ...(unsupportedParameters ? { unsupportedParameters } : {}),
  };
}
