const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Methods that change nothing and leave no audit record. */
export const isReading = (method: string): boolean => READING.has(method);
