import type { RoutableRequest } from '../../src/gateway/routing/routable-request.js';
import type { TargetAnswer } from '../../src/gateway/routing/outcome.js';

/** A request that is sent to one target at a time. */
export const UNHEDGED: Pick<
  RoutableRequest<TargetAnswer>,
  'isOver' | 'mayBeSentTwice' | 'costOf' | 'whenSent' | 'fork' | 'adopt' | 'abandon'
> = {
  isOver: false,
  mayBeSentTwice: false,
  costOf: () => Promise.resolve(null),
  whenSent: () => Promise.resolve(),
  fork: () => {
    throw new Error('It must not be sent twice.');
  },
  adopt: () => undefined,
  abandon: () => undefined,
};

/** Every target is in service, and stays so. */
export const NO_BREAKERS = { isOpen: () => false, began: () => undefined, ended: () => undefined };
