import { type ErrorCode, ERRORS } from './catalog.js';
import type { ErrorSpec } from './error-spec.js';

/**
 * Values for the `{placeholders}` of a message. `parameter` or `header` is also shown as `param`. Never put a secret here: it is shown to the
 * caller.
 */
export type ErrorDetails = Readonly<Record<string, string | number>>;

/** An error of the gateway, and its only error class: a provider's own error response is passed on and never becomes one of these. */
export class AppError extends Error {
  readonly spec: ErrorSpec;

  constructor(
    readonly code: ErrorCode,
    readonly details: ErrorDetails = {},
    options?: { readonly cause?: unknown },
  ) {
    super(fill(ERRORS[code].message, details), options);
    this.name = 'AppError';
    this.spec = ERRORS[code];
  }

  /** Anything that was not thrown on purpose is an internal error; its text stays private, as the cause. */
  static from(thrown: unknown): AppError {
    return thrown instanceof AppError ? thrown : new AppError('internal_error', {}, { cause: thrown });
  }
}

/** The body of an error response, in the format that OpenAI's clients read. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: ErrorCode;
    readonly param: string | null;
    readonly request_id: string;
  };
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  const { message, code, spec, details } = error;
  const named = details.parameter ?? details.header;
  const param = typeof named === 'string' ? named : null;
  return { error: { message, type: spec.type, code, param, request_id: requestId } };
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? '')).trim();
}
