/** Whether tables show their rows as lists: below the same width as in the style sheets. */
export const isNarrow = (): boolean => matchMedia('(max-width: 768px)').matches;
