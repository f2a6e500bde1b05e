/** Whether tables show their rows as lists: the width below which the style sheets do so. */
export const isNarrow = (): boolean => matchMedia('(max-width: 768px)').matches;
