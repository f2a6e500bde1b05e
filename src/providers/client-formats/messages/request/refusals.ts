import { AppError } from '../../../../common/errors/app-error.js';

/** A feature that an Anthropic client requests and other providers lack. */
export function unsupportedMessagesParameter(parameter: string, detail: string): AppError {
  return new AppError('parameter_unsupported', { parameter, detail });
}

/** A request that Anthropic's own format does not allow. */
export function invalidMessagesRequest(detail: string): AppError {
  return new AppError('invalid_request', { detail });
}
