import type { CheckSpec } from '../../routing-config/guardrails/hook.js';
import { readActions, readChecks } from '../../routing-config/guardrails/read-hooks.js';
import { mistakesInWords } from '../../routing-config/routing-config.js';
import { type Mistake, Place } from '../../routing-config/place.js';
import { AppError } from '../../common/errors/app-error.js';

type Json = Readonly<Record<string, unknown>>;

/** Checks and actions in the stored form: complete and valid. Refuses with all mistakes at once. */
export function readGuardrail(
  checks: readonly unknown[],
  actions: Json,
): { readonly checks: readonly Json[]; readonly actions: Json } {
  const mistakes: Mistake[] = [];
  const read = readChecks(checks, Place.root(mistakes, 'checks'));
  const done = readActions(actions, Place.root(mistakes, 'actions'));
  if (mistakes.length > 0 || !done)
    throw new AppError('invalid_request', {
      detail: `The guardrail is invalid: ${mistakesInWords(mistakes)}.`,
    });
  return {
    checks: read.map(written),
    actions: {
      deny: done.deny,
      async: done.isAsync,
      sequential: done.isSequential,
      fail_on_error: done.failOnError,
      on_success: done.onSuccess && { feedback: done.onSuccess },
      on_fail: done.onFail && { feedback: done.onFail },
    },
  };
}

function written({ id, name, parameters, isEnabled }: CheckSpec): Json {
  return { id, ...(name === null ? {} : { name }), parameters, is_enabled: isEnabled };
}
