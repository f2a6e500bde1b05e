export function exactCount(count: number): string {
  return new Intl.NumberFormat('en-US').format(count);
}
