import type { ClientDisconnectRule } from '../../common/contracts/client-disconnect.js';
import type { Price } from '../../common/contracts/price.js';
import type { UnsupportedParameterRule } from '../../common/contracts/unsupported-parameters.js';
import type { Limit } from '../../common/limits/limit.js';
import type { Credentials } from '../../providers/auth-scheme.js';
import type { Provider } from '../../providers/provider.js';

/** One place a request may go: decided before the first attempt, never changed after. */
export interface Target {
  readonly provider: Provider;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the provider's base URL, without a trailing slash; may be empty. */
  readonly basePath: string;
  /** Parameters that every call carries, encoded; empty when there are none. */
  readonly query: string;
  /** The stored credential in use, or null when the caller brought its own. */
  readonly virtualKey: {
    readonly id: string;
    readonly slug: string;
    /** Absent when every model may be used. */
    readonly models?: AllowedModels;
    /** Absent when list prices hold. */
    readonly prices?: OwnPrices;
    /** Absent when nothing limits its use. */
    readonly limits?: readonly Limit[];
    /** Absent where the workspace decides. */
    readonly onClientDisconnect?: ClientDisconnectRule;
    /** Absent where unsupported parameters are refused. */
    readonly unsupportedParameters?: UnsupportedParameterRule;
  } | null;
  /** What the gateway adds to the request. Null key: the caller's own credential headers go on. */
  readonly credentials: Credentials;
  /** The caller's credential is for another provider, and this one wants none. */
  readonly isAnonymous?: true;
  /** The credential is the client's own: it sent it with the request. Absent for one that is stored or stands in a config. */
  readonly usesCallersKey?: true;
  /** The address was named by the caller or by a virtual key, so it might lead back to us. */
  readonly isCustomHost: boolean;
  /** Lower-case names of the client's headers that go on whatever they are; null for none. */
  readonly forwarded: ReadonlySet<string> | null;
}

/** Either the only models that may be used, or all but these. */
export interface AllowedModels {
  readonly names: ReadonlySet<string>;
  readonly areAllowed: boolean;
}

/** What models cost instead of their list price, by name. */
export type OwnPrices = ReadonlyMap<string, Price>;
