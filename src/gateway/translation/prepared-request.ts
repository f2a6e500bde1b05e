import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { RequestContent } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { ClientRequestHead } from '../upstream/forwarded-headers.js';

/** Facts of a request besides its content. */
export type RequestSubject = Pick<ExchangeFacts, 'id' | 'createdAt' | 'gatewayKey' | 'options' | 'endpoint'>;

/** Results of the previous steps. */
export interface PreparedRequest {
  readonly request: ClientRequestHead;
  /** As this target receives it. */
  readonly content: RequestContent;
  readonly planned: PlannedTarget;
  readonly target: Target;
  readonly facts: RequestSubject;
}
