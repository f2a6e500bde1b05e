import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import type { GuardInput } from './guard-request.js';
import type { Guards } from './guardrails.js';
import { mayDeny } from './part-filters.js';

/** The guardrails of a request, by their origin. */
export interface RequestGuardrails {
  /** Of the organization and the workspace. */
  readonly imposed: Guards;
  /** Of the config. */
  readonly own: Guards;
}

/**
 * Refuses with `guardrail_inapplicable` a request that cannot be guarded: a WebSocket, whose messages are not read, if any guardrail may
 * deny because of texts; and a request that passes unread, if such a guardrail is one that its caller cannot disable.
 */
export function checkApplicable({ imposed, own }: RequestGuardrails, { entry, content }: GuardInput): void {
  if (content.isWebSocket) refuse([imposed, own], 'a WebSocket');
  else if (content.body === null) return;
  else if (entry.endpoint?.id === 'realtime') refuse([imposed, own], 'a realtime session');
  else if (isUnread(entry.endpoint)) refuse([imposed], 'a request that the gateway does not read');
}

/** Uploads, and jobs that reference them: guardrails do not read files. */
const FILES: ReadonlySet<EndpointId> = new Set(['files', 'batches', 'fine-tuning']);

const isUnread = (endpoint: Endpoint | null): boolean =>
  endpoint === null || (endpoint.body === 'opaque' && !FILES.has(endpoint.id));

function refuse(guards: readonly Guards[], what: string): void {
  const hook = guards.flatMap(({ input, output }) => [...input, ...output]).find(mayDeny);
  if (hook) throw new AppError('guardrail_inapplicable', { guardrail: hook.spec.id, what });
}
