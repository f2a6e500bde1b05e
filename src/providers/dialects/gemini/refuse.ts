import { AppError } from '../../../common/errors/app-error.js';

/** What the hub knows and Gemini cannot do. Always throws `AppError('parameter_unsupported')`. */
export function refuse(parameter: string, detail: string): never {
  throw new AppError('parameter_unsupported', { parameter, detail });
}
