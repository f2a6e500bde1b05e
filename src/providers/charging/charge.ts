import type { Usage } from '../../common/contracts/usage.js';
import type { Json, EndpointOperation } from '../endpoint.js';

/** Input of an estimate. */
export interface ChargedRequest {
  /** The JSON body, or the fields of the form, files included. */
  readonly body: Json;
  /** Size of the whole decoded body, in bytes. */
  readonly bodyBytes: number;
  /** Output tokens assumed for a request that sets no maximum itself. */
  readonly outputCeiling: number;
}

/** How to limit a request's usage before it is sent, and to determine it when its response reports none. */
export interface ChargeRule {
  /**
   * The maximum usage of the request, once for each unit in which a provider may bill it: the model's price decides which applies. Null if
   * the request does not determine it, such as audio at a URL.
   */
  most(request: ChargedRequest): readonly Usage[] | null;
  /** For the error message: what makes the usage of a request unbounded. Absent: its path is enough. */
  readonly unboundedBy?: string;
  /**
   * The charge for a successful response without reported usage: the counted `text` of request and response, only the text of the `input`,
   * or the `reservation`. Units such as characters, images and seconds are charged as reserved in any case, because the request determines
   * them exactly.
   */
  unreported(body: Json): 'text' | 'input' | 'reservation';
  /** The request determines the units exactly, so that they are recorded even if no limit reserves them. */
  readonly isExact?: true;
  /** It is billed by other units only, which token limits do not count. */
  readonly hasNoTokens?: true;
  /** Providers that do not bill it. */
  readonly freeAt?: ReadonlySet<string>;
}

/** `nothing`: providers do not bill the request itself. `unmeasured`: they may, for an amount that the gateway cannot determine. */
export type ChargeKind = ChargeRule | 'nothing' | 'unmeasured';

/** One row of the charging table: requests with the same charge. */
export interface ChargeRow {
  readonly operations: readonly EndpointOperation[];
  readonly charge: ChargeKind;
  /** For the documentation: the units, their source, and the reservation. */
  readonly charged: string;
  readonly knownFrom: string;
  readonly reserved: string;
}
