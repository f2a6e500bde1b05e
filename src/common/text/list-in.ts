/** The items of a comma-separated list, without white space and empty ones. */
export const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
