/**
 * A problem that the operator must fix before the service can run. The command prints the message, one or two plain sentences without a
 * stack, and exits with `exitCode`. Our own faults are any other Error.
 */
export class LauncherError extends Error {
  readonly exitCode: number;

  /** `exitCode` is 1 unless that has another meaning for the command. */
  constructor(message: string, options?: { readonly cause?: unknown; readonly exitCode?: number }) {
    super(message, options);
    this.name = 'LauncherError';
    this.exitCode = options?.exitCode ?? 1;
  }
}
