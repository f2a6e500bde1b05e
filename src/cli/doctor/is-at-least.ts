/** Compares major and minor of a dotted version; further parts are ignored. */
export function isAtLeast(version: string, [needMajor, needMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > needMajor || (major === needMajor && minor >= needMinor);
}
