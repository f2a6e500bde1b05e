import { BusyPoolError } from './busy-pool.js';

/** Network failures, and PostgreSQL's classes for broken connections (08), lack of resources (53) and shutdown (57P). */
const AWAY_CODE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|08|53|57P)/;

const BUSY_CODES: ReadonlySet<string> = new Set(['57014', '55P03', '40P01']);

/** Messages without a code that `pg` and its pool use for a lost or unavailable connection. */
const AWAY_MESSAGE =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Driver not Connected)/;

/** Whether a failure means that the database is unreachable, and not that it refused the statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  return isFatal(error) || AWAY_CODE.test(codeOf(error) ?? '') || AWAY_MESSAGE.test(error.message);
}

/** Whether other callers used all connections for too long. */
export const isPoolBusy = (error: unknown): boolean => error instanceof BusyPoolError;

/**
 * Whether a statement waited too long for a connection, or PostgreSQL cancelled it because it ran or waited too long: query_canceled,
 * lock_not_available, deadlock_detected.
 */
export function isDatabaseBusy(error: unknown): boolean {
  return isPoolBusy(error) || (error instanceof Error && BUSY_CODES.has(codeOf(error) ?? ''));
}

/**
 * Whether a statement failed because of its data, without effect: data exceptions (22), violated constraints (23), a transaction that
 * conflicts with another (40). https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isFaultOfData(error: unknown): boolean {
  return error instanceof Error && /^(22|23|40)/.test(codeOf(error) ?? '');
}

/** Whether a referenced row is missing, or a deleted row is still referenced: foreign_key_violation. */
export function isReferenceBroken(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '23503';
}

/** Whether a unique index refused a row: unique_violation. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '23505';
}

/** A FATAL error ends the connection, or refuses to open one: https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-SEVERITY-LEVELS */
function isFatal(error: Error): boolean {
  return (driverErrorOf(error) as { severity?: unknown }).severity === 'FATAL';
}

/** The error of `pg`, which TypeORM wraps. */
function driverErrorOf(error: Error): object {
  const { driverError } = error as { driverError?: unknown };
  return typeof driverError === 'object' && driverError !== null ? driverError : error;
}

function codeOf(error: Error): string | undefined {
  const { code } = driverErrorOf(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
