/** The finding of one check. `todo` is empty when all is well. */
export interface DoctorFinding {
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  readonly todo: string;
}

export function ok(check: string, detail: string): DoctorFinding {
  return { check, result: 'ok', detail, todo: '' };
}

/** The service runs, but not as it should in production. */
export function warning(check: string, detail: string, todo: string): DoctorFinding {
  return { check, result: 'warning', detail, todo };
}

/** The service would not start, or would lose or refuse requests or data. */
export function failed(check: string, detail: string, todo: string): DoctorFinding {
  return { check, result: 'failed', detail, todo };
}

/** Describes a failure: some network errors have a code but no message. */
export function errorText(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return message || (code ?? 'unknown');
}
