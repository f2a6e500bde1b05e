/**
 * Whether this machine has what a guarantee is tested with. If it does not, the caller skips the test. In CI that is an error instead,
 * because nobody would notice a guarantee that is no longer tested.
 */
export function isAvailable(what: string, isFound: boolean, remedy: string): boolean {
  if (!isFound && process.env['CI'])
    throw new Error(`${what} is not available here, and CI skips no test. ${remedy}`);
  return isFound;
}
