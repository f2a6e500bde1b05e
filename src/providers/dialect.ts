import type { Batches } from './batches.js';
import type { EndpointId } from './endpoint.js';
import type { Translator } from './translation.js';

/** A request to an endpoint that the provider has itself. */
export interface NativeCall {
  readonly endpoint: EndpointId;
  /** Below the base URL, as the client sent it, without its query. */
  readonly path: string;
  /** As the client named it; empty if it named none. */
  readonly model: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * A provider's API. An endpoint that the provider has itself is forwarded byte for byte; another endpoint of the hub is translated if there
 * is a translator.
 */
export interface Dialect {
  readonly id: string;
  readonly translators?: Readonly<Partial<Record<EndpointId, Translator>>>;
  /** The path of a native request if it differs from the client's, as with deployments in the path. */
  readonly pathOf?: (call: NativeCall) => string;
  /** Where its batches and their output are; absent if they are as at OpenAI, or there are none. */
  readonly batches?: Batches;
}
