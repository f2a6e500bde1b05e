/**
 * Something that the operator must put right before the service can run. The command prints the message, which is
 * one plain sentence or two, without a stack, and exits with 1. What is a fault of ours is any other Error.
 */
export class LauncherError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'LauncherError';
  }
}
