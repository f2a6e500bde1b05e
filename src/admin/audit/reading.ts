const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Methods that are recorded: changes, and GET for downloading a file of the log. */
export const RECORDED_METHODS = ['POST', 'PUT', 'DELETE', 'PATCH', 'GET'] as const;

/** Methods that change nothing and leave no audit record. */
export const isReading = (method: string): boolean => READING.has(method);
