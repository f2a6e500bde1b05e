import { AppError } from '../../common/errors/app-error.js';
import type { Asking } from './guard-request.js';
import type { Guards } from './guardrails.js';
import type { Hook } from './run-hooks.js';

/** The guardrails of a request, by who wants them. */
export interface Wanted {
  /** The organization and the workspace. */
  readonly imposed: Guards;
  /** The config. */
  readonly own: Guards;
}

/**
 * Refuses with `guardrail_inapplicable` a request that nobody could guard: a WebSocket, whose messages nobody reads, where any
 * guardrail may deny for its texts; and a request that goes on unread, where one does that its caller cannot leave out.
 */
export function checkApplicable({ imposed, own }: Wanted, { entry, content }: Asking): void {
  if (content.isWebSocket) refuse([imposed, own], 'a WebSocket');
  else if (entry.endpoint === null && content.body !== null)
    refuse([imposed], 'a request that the gateway does not read');
}

function refuse(guards: readonly Guards[], what: string): void {
  const hook = guards.flatMap(({ input, output }) => [...input, ...output]).find(mayDeny);
  if (hook) throw new AppError('guardrail_inapplicable', { guardrail: hook.spec.id, what });
}

/** It may deny for what it reads in texts. */
function mayDeny({ spec, checks }: Hook): boolean {
  return spec.deny && !spec.isAsync && checks.some(({ readsTexts }) => readsTexts);
}
