import { AppError } from '../../common/errors/app-error.js';
import type { Target } from '../types/target.js';

/** Methods by which nothing is asked of a model. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Refuses with `model_not_allowed` a model that the target's virtual key may not be used for. `model` is what goes
 * upstream; null where none was read: what the gateway cannot see it cannot allow, so such a request may only read and
 * delete.
 */
export function checkModel(target: Target, model: string | null, method: string | undefined): void {
  const allowed = target.virtualKey?.models;
  if (!allowed || (model === null && READING.has(method ?? ''))) return;
  if (model !== null && allowed.names.has(model) === allowed.areAllowed) return;
  throw new AppError('model_not_allowed', {
    virtualKey: target.virtualKey?.slug ?? '',
    detail:
      model === null
        ? 'it is open for named models only, and the model of this request cannot be seen'
        : `the model "${model}" is not one of those that it is open for`,
  });
}
