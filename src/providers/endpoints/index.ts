import type { Endpoint } from '../endpoint.js';
import { compiled } from './lookup.js';
import { mediaEndpoints } from './table/media.js';
import { storedEndpoints } from './table/stored.js';
import { textEndpoints } from './table/text.js';

/**
 * The first-class endpoints. To add one, add a row; every other path is a pass-through. An id may have two rows, where
 * the gateway reads some of its requests and not others; the one that is read comes last.
 */
export const endpoints: readonly Endpoint[] = [...storedEndpoints, ...textEndpoints, ...mediaEndpoints];

const find = compiled(endpoints);

/**
 * The endpoint of a method and a path below `/v1` (`/chat/completions`, without a query), or null for a
 * pass-through. Paths are compared exactly; where an operation has `{id}`, one plain segment may stand. Never throws.
 */
export function findEndpointRow(method: string, path: string): Endpoint | null {
  return find(method, path);
}
