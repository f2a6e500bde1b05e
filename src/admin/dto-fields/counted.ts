/** `1 member`, `2 members`: for nouns whose plural adds an s. */
export const withCount = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : 's'}`;

/** `a`, `a and b`, `a, b and c`. */
export const listInWords = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
