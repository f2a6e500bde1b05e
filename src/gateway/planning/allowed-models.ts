import { AppError } from '../../common/errors/app-error.js';
import type { AllowedModels } from '../types/target.js';

/** Methods by which nothing is asked of a model. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Refuses with `model_not_allowed` a model that a virtual key may not be used for. `model` is what goes upstream; null
 * where none was read: what the gateway cannot see it cannot allow, so such a request may only read and delete.
 */
export function checkModel({ names, areAllowed }: AllowedModels, model: string | null, method = ''): void {
  const isAllowed = model === null ? READING.has(method) : names.has(model) === areAllowed;
  if (!isAllowed)
    throw new AppError('model_not_allowed', { model: model ?? 'that the request does not show' });
}
