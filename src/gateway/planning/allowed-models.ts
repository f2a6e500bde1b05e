import { AppError } from '../../common/errors/app-error.js';
import type { AllowedModels } from '../types/target.js';

/** Methods that do not use a model. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Throws `model_not_allowed` for a model that a virtual key must not be used for. `model` is the one that goes upstream; null if it was not
 * read: the gateway cannot allow a model that it cannot see, so such a request may only read and delete.
 */
export function checkModel({ names, areAllowed }: AllowedModels, model: string | null, method = ''): void {
  const isAllowed = model === null ? READING.has(method) : names.has(model) === areAllowed;
  if (!isAllowed)
    throw new AppError('model_not_allowed', { model: model ?? 'that the request does not show' });
}
