import type { Batches } from './batches.js';
import type { EndpointId } from './endpoint.js';
import type { Translator } from './translation.js';

/** A request to an endpoint that the provider has itself. */
export interface NativeCall {
  readonly endpoint: EndpointId;
  /** Below the base URL, as the client sent it, without its query. */
  readonly path: string;
  /** As the client named it; empty when it named none. */
  readonly model: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * How a provider speaks. An endpoint that the provider has itself is sent and returned byte for byte; an endpoint of
 * the hub that it has not is translated, where there is a translator.
 */
export interface Dialect {
  readonly id: string;
  readonly translators?: Readonly<Partial<Record<EndpointId, Translator>>>;
  /** The path of a native call where it is not the client's own, as with deployments in the path. */
  readonly pathOf?: (call: NativeCall) => string;
  /** Where its batches are, and their answers; absent where they are OpenAI's, or there are none. */
  readonly batches?: Batches;
}
