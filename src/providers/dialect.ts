import type { EndpointId } from './endpoint.js';

/**
 * How a provider speaks. An endpoint without a translator is sent and returned byte for byte,
 * which is every endpoint of a provider that speaks the client's own dialect.
 */
export interface Dialect {
  readonly id: string;
  /** Path of an endpoint below the base URL, where it differs from the client's. */
  readonly paths?: Readonly<Partial<Record<EndpointId, string>>>;
}
