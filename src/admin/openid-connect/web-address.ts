const WEB: ReadonlySet<string> = new Set(['https:', 'http:']);

/** Whether a browser may be sent there: never `javascript:` or the scheme of a program. */
export const isWebAddress = (text: string | null | undefined): text is string =>
  typeof text === 'string' && URL.canParse(text) && WEB.has(new URL(text).protocol);
