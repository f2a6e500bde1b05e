import type {
  ClientDisconnectRule,
  UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { Price } from '../../common/contracts/price.js';
import type { Limit } from '../../common/limits/limit.js';
import type { Credentials } from '../../providers/auth-scheme.js';
import type { Provider } from '../../providers/provider.js';

/** A resolved target: decided before the first attempt, never changed afterwards. */
export interface Target {
  readonly provider: Provider;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the provider's base URL or of the custom host, without a trailing slash; may be empty. */
  readonly basePath: string;
  /** Query parameters of every request, encoded; empty when there are none. */
  readonly query: string;
  /** The stored credential in use, or null when the caller sent its own. */
  readonly virtualKey: {
    readonly id: string;
    readonly slug: string;
    /** Absent when every model may be used. */
    readonly models?: AllowedModels;
    /** Absent when list prices apply. */
    readonly prices?: OwnPrices;
    /** Absent when the key has no limits. */
    readonly limits?: readonly Limit[];
    /** Absent if the workspace decides. */
    readonly onClientDisconnect?: ClientDisconnectRule;
    /** Absent if unsupported parameters are refused. */
    readonly unsupportedParameters?: UnsupportedParameterRule;
  } | null;
  /** The gateway's additions to the request. Null key: the caller's own credential headers are forwarded. */
  readonly credentials: Credentials;
  /** The caller's credential is for another provider, and this one needs none. */
  readonly isAnonymous?: true;
  /** The credential is the caller's own, sent with the request. Absent for one that is stored or in a config. */
  readonly usesCallersKey?: true;
  /** The caller or a virtual key named the address, so it might lead back to us. */
  readonly isCustomHost: boolean;
  /** Lower-case names of the client's headers that are forwarded in any case; null for none. */
  readonly forwarded: ReadonlySet<string> | null;
}

/** Either the only models that may be used, or all except these. */
export interface AllowedModels {
  readonly names: ReadonlySet<string>;
  readonly areAllowed: boolean;
}

/** Prices of models that override their list price, by name. */
export type OwnPrices = ReadonlyMap<string, Price>;
