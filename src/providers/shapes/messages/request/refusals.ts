import { AppError } from '../../../../common/errors/app-error.js';

/** What an Anthropic client asks for and other providers do not have. */
export function unsupported(parameter: string, detail: string): AppError {
  return new AppError('parameter_unsupported', { parameter, detail });
}

/** A request that Anthropic's own shape does not allow. */
export function invalid(detail: string): AppError {
  return new AppError('invalid_request', { detail });
}
