import { parameterError } from '../../../common/errors/field-errors.js';
import { isUuid } from '../../../common/ids/uuid-v7.js';

/** The last row of a page of the log; the next page begins after it. */
export interface LogPosition {
  /** Arrival time in UTC, to the microsecond, as PostgreSQL writes it. */
  readonly at: string;
  readonly id: string;
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const LONGEST = 200;

/** The position as an opaque text for clients. */
export function toCursor({ at, id }: LogPosition): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** Refuses anything that `toCursor` did not create. The result is a time and an id and nothing else. */
export function fromCursor(cursor: string): LogPosition {
  const [at, id, ...more] = cursor.length <= LONGEST ? listIn(cursor) : [];
  if (typeof at !== 'string' || typeof id !== 'string' || more.length > 0 || !isMoment(at) || !isUuid(id))
    throw parameterError(
      'cursor',
      'is invalid. Send the cursor of an earlier page exactly as you received it',
    );
  return { at, id };
}

function listIn(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** Also refuses 31 February, which PostgreSQL would reject. */
function isMoment(text: string): boolean {
  if (!TIME.test(text)) return false;
  const milliseconds = `${text.slice(0, 23)}Z`;
  const parsed = Date.parse(milliseconds);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString() === milliseconds;
}
