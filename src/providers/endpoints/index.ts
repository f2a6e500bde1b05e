import type { Endpoint } from '../endpoint.js';
import { compiled } from './lookup.js';
import { mediaEndpoints } from './table/media.js';
import { storedEndpoints } from './table/stored.js';
import { textEndpoints } from './table/text.js';

/**
 * The first-class endpoints. To add one, add a row; every other path is pass-through. An id may have two rows, if the gateway reads only
 * some of its requests; the row of those comes last.
 */
export const endpoints: readonly Endpoint[] = [...storedEndpoints, ...textEndpoints, ...mediaEndpoints];

const find = compiled(endpoints);

/**
 * The endpoint of a method and a path below `/v1` (`/chat/completions`, without a query), or null for pass-through. Paths are compared
 * exactly; `{id}` in an operation matches one plain segment. Never throws.
 */
export function findEndpointRow(method: string, path: string): Endpoint | null {
  return find(method, path);
}
