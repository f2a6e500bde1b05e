import type { CheckSpec, HookMistake } from '../../common/contracts/guardrails/hook.js';
import { HookPlace, readActions, readChecks } from '../../common/contracts/guardrails/read-hooks.js';
import { AppError } from '../../common/errors/app-error.js';

type Json = Readonly<Record<string, unknown>>;

const MISTAKES_SHOWN = 20;

/** Checks and actions as they are stored: complete, and known to be usable. Refuses with every mistake at once. */
export function readGuardrail(
  checks: readonly unknown[],
  actions: Json,
): { readonly checks: readonly Json[]; readonly actions: Json } {
  const mistakes: HookMistake[] = [];
  const read = readChecks(checks, new HookPlace('checks', mistakes));
  const done = readActions(actions, new HookPlace('actions', mistakes));
  if (mistakes.length > 0 || !done)
    throw new AppError('invalid_request', {
      detail: `The guardrail is not acceptable. ${mistakes
        .slice(0, MISTAKES_SHOWN)
        .map(({ path, message }) => `${path}: ${message}`)
        .join('; ')}.`,
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
