import type { EndpointId } from '../endpoint.js';
import type { ClientShape } from '../translation.js';
import { countTokens } from './count-tokens.js';
import { messages } from './messages/index.js';
import { responses } from './responses/index.js';

/** Client formats of chat besides the hub's own, by endpoint. */
export const clientShapes: Readonly<Partial<Record<EndpointId, ClientShape>>> = {
  messages,
  responses,
  'count-tokens': countTokens,
};
