import { requestPath } from '../../gateway/types/request-path.js';
import { chargeOf } from '../../providers/charging/index.js';
import type { LoggedRequest } from '../../request-log/charging/unknown-costs.js';

/** Whether the charging table has the request as one that its provider does not bill. A request that cannot be read may be billed. */
export function isFreeRequest({ method, path, provider }: LoggedRequest): boolean {
  if (method === null || path === null) return false;
  try {
    return chargeOf(method, requestPath(path).path, provider) === 'nothing';
  } catch {
    return false;
  }
}
