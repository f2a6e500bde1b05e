import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { BundleRedactor } from './redactor.js';

/** Lines of the end of the log. */
const LINES = 5_000;

/** Names of the texts that are kept, redacted. Others may come from users. */
const TEXTS = new Set([
  ...['level', 'time', 'component', 'request_id', 'role', 'code', 'name', 'type', 'signal'],
  ...['msg', 'message', 'reason', 'stack'],
]);
const ERROR = new Set(['err', 'error', 'cause']);

/** The last lines of a log in JSON, redacted, and the number of lines that are no JSON and were left out. */
export interface LogExcerpt {
  readonly lines: readonly string[];
  readonly left_out: number;
}

/** Reads a file, or standard input for `-`. */
export async function logPart(file: string, redactor: BundleRedactor): Promise<LogExcerpt> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const lines: string[] = [];
  let leftOut = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const record = recordIn(line);
    if (record === null) leftOut += 1;
    else lines.push(JSON.stringify(redacted(record, redactor)));
    if (lines.length > LINES) lines.shift();
  }
  return { lines, left_out: leftOut };
}

function recordIn(line: string): object | null {
  try {
    // Collectors such as journald or Docker put a prefix before the line.
    const parsed: unknown = JSON.parse(line.slice(Math.max(0, line.indexOf('{'))));
    return typeof parsed === 'object' && parsed !== null && 'level' in parsed ? parsed : null;
  } catch {
    return null;
  }
}

function redacted(record: object, redactor: BundleRedactor): object {
  const kept = Object.entries(record).map(([name, value]: [string, unknown]) => [
    name,
    fieldOf(name, value, redactor),
  ]);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as object;
}

function fieldOf(name: string, value: unknown, redactor: BundleRedactor): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return TEXTS.has(name) ? redactor.foreign(value) : undefined;
  return typeof value === 'object' && value !== null && ERROR.has(name)
    ? redacted(value, redactor)
    : undefined;
}
