import type { Usage } from '../../common/contracts/usage.js';
import type { Json, Operation } from '../endpoint.js';

/** What a charge is estimated from. */
export interface ChargedRequest {
  /** The JSON body, or the fields of the form, files included. */
  readonly body: Json;
  /** Size of the whole decoded body, bytes. */
  readonly bodyBytes: number;
  /** Output of a request that does not bound it itself, tokens. */
  readonly outputCeiling: number;
}

/** How the use of a request is bounded before it is sent, and known when its answer reports none. */
export interface ChargeRule {
  /**
   * The most that the request may use, once for each unit in which a provider may bill it: the price of the model says
   * which applies. Null where the request does not show it, such as sound at an address.
   */
  most(request: ChargedRequest): readonly Usage[] | null;
  /**
   * What is charged when a successful answer reports no usage: the `text` of request and answer, counted, the text of the
   * `input` alone, or the `reservation`. Units such as
   * characters, pictures and seconds are charged as reserved in any case, because the request shows them exactly.
   */
  unreported(body: Json): 'text' | 'input' | 'reservation';
  /** Units are known exactly from the request, so that they are recorded where no limit reserves them, too. */
  readonly isExact?: true;
  /** Providers that do not bill it. */
  readonly freeAt?: ReadonlySet<string>;
}

/** `nothing`: providers do not bill the request by itself. `unmeasured`: they may, and the gateway cannot say how much. */
export type ChargeKind = ChargeRule | 'nothing' | 'unmeasured';

/** One line of the charging table: requests that are charged alike. */
export interface ChargeRow {
  readonly operations: readonly Operation[];
  readonly charge: ChargeKind;
  /** For the documentation: the units, where they are known from, and what is reserved. */
  readonly charged: string;
  readonly knownFrom: string;
  readonly reserved: string;
}
