import { compiled } from '../endpoints/lookup.js';
import type { ChargeKind } from './charge.js';
import { chargeRows } from './table.js';

const find = compiled(chargeRows);

/** Methods that read or delete: providers bill neither. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * How a request is charged, by its method and its path below `/v1`. A request that the table does not list may be billed by its provider
 * for an amount that the gateway cannot determine: it is `unmeasured`, unless it only reads or deletes. Never throws.
 */
export function chargeOf(method: string, path: string, providerId: string): ChargeKind {
  if (READING.has(method)) return 'nothing';
  const charge = (method === 'POST' ? find(method, path)?.charge : null) ?? 'unmeasured';
  return typeof charge === 'object' && charge.freeAt?.has(providerId) ? 'nothing' : charge;
}
