import type { Principal } from '../../auth/principal.js';
import type { ChargeKind } from '../../providers/charging/charge.js';
import { chargeOf } from '../../providers/charging/index.js';
import type { Endpoint } from '../../providers/endpoint.js';
import type { GatewayHeaders } from './gateway-headers.js';
import type { SavedConfig } from './plan.js';
import type { Target } from './target.js';

/** The facts of a request, whichever target it goes to. A value: each step until the body is read makes a new one. */
export interface ExchangeFacts {
  /** UUIDv7 assigned on arrival. */
  readonly id: string;
  /** Arrival: milliseconds since the epoch, and on the monotonic clock. */
  readonly createdAt: number;
  readonly arrivedAt: number;
  readonly method: string;
  /** Null before authentication. The caller may still be refused. */
  readonly caller: Principal | null;
  /** The key that the caller presented; null for none. */
  readonly gatewayKey: string | null;
  /** The gateway's options of the request. */
  readonly options: GatewayHeaders;
  /** Groups the requests of a client: its own trace id or session, else the id of the request. */
  readonly traceId: string;
  /** Null if it is unknown. */
  readonly endpoint: Endpoint | null;
  /** Below `/v1`, as the client sent it. */
  readonly path: string;
  /** The saved config; null for a config in the request, or none. */
  readonly config: SavedConfig | null;
}

/** How a request is charged at a target. A request that never leaves the process is not billed. */
export function chargeAt(
  { method, path }: Pick<ExchangeFacts, 'method' | 'path'>,
  { provider }: Target,
): ChargeKind {
  const charge = chargeOf(method, path, provider.id);
  return charge === 'unmeasured' && provider.inProcess ? 'nothing' : charge;
}

/** Whether a caller's use of a target is limited: where it is not, nothing is reserved. */
export const isLimited = ({ limits }: Principal, { virtualKey }: Target): boolean =>
  limits !== undefined || (virtualKey !== null && virtualKey.limits !== undefined);

/** What the steps of a request find out. */
type FoundFacts = Omit<ExchangeFacts, 'id' | 'createdAt' | 'arrivedAt' | 'method'>;

/**
 * The facts with further ones. Written out member by member: each spread makes objects of a hidden class of its own, which slows down every
 * later read of them.
 */
export const factsWith = (
  facts: ExchangeFacts,
  {
    caller = facts.caller,
    gatewayKey = facts.gatewayKey,
    options = facts.options,
    traceId = facts.traceId,
    endpoint = facts.endpoint,
    path = facts.path,
    config = facts.config,
  }: Partial<FoundFacts>,
): ExchangeFacts => ({
  id: facts.id,
  createdAt: facts.createdAt,
  arrivedAt: facts.arrivedAt,
  method: facts.method,
  caller,
  gatewayKey,
  options,
  traceId,
  endpoint,
  path,
  config,
});
