/**
 * A problem that the operator must fix before the service can run. The command prints the message, one or two plain sentences without a
 * stack, and exits with 1. Our own faults are any other Error.
 */
export class LauncherError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'LauncherError';
  }
}
