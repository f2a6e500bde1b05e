const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Methods of what is recorded: changes, and the handing out of a file of the log, which is read. */
export const RECORDED_METHODS = ['POST', 'PUT', 'DELETE', 'PATCH', 'GET'] as const;

/** Methods that change nothing, and therefore leave no audit record. */
export const isReading = (method: string): boolean => READING.has(method);
