/** The parts of a failure that are logged. */
export interface FailureDescription {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: FailureDescription;
}

const DEEPEST = 4;

/**
 * Picks name, message, code and stack, and omits everything else: database errors contain the statement's parameters and HTTP errors the
 * headers, including credentials.
 */
export function describeFailure(thrown: unknown, depth = 0): FailureDescription {
  if (!(thrown instanceof Error))
    return { name: typeof thrown, message: 'Something other than an error was thrown.' };
  const { code } = thrown as { code?: unknown };
  return {
    name: thrown.name,
    message: thrown.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack }),
    ...(thrown.cause === undefined || depth >= DEEPEST
      ? {}
      : { cause: describeFailure(thrown.cause, depth + 1) }),
  };
}
