import type { Json } from '../endpoint.js';

/** Names of request fields in which a provider's own format differs from the hub's. */
export interface FormatFields {
  /** Only the provider has them. */
  readonly own: readonly string[];
  /** Only the hub has them. */
  readonly hub: readonly string[];
}

/**
 * Recognizes requests in a provider's own format: they have one of its own fields, and none that only the hub has. A request without
 * either is the hub's.
 */
export const ownFormat =
  ({ own, hub }: FormatFields) =>
  (body: Json): boolean =>
    own.some((name) => body[name] !== undefined) && !hub.some((name) => body[name] !== undefined);
