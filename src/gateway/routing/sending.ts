import type { Principal } from '../../auth/principal.js';
import type { ReadRequest } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import type { Leg } from './request-race.js';

/** A request that is ready to be sent. */
export interface Sending {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly read: ReadRequest;
  /** Null where no other question of the same request is asked beside this one. */
  leg: Leg | null;
}
