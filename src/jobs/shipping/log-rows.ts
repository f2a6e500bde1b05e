import { brotliCompressSync, constants } from 'node:zlib';
import type { NewLogRow, StoredBody } from '../../request-log/store/log-row.js';
import { type BodyFacts, readOpened } from '../../request-log/spool/frame-values.js';
import { clearExchange, type ParsedExchange } from '../../request-log/redaction/clear-exchange.js';
import type { RedactorOf } from '../../request-log/redaction/read-redactors.js';
import type { OpenExchange } from './open-exchanges.js';
import { withCountedUsage } from './count-usage.js';
import { crashedExchange } from './crashed-exchange.js';
import type { UsageCounter } from './ports.js';
import { previewOf } from './preview.js';

/** Rows processed between two pauses for the process's other work: some milliseconds. */
const ROWS_PER_TURN = 64;

/** The inputs for making rows. */
export interface RowTerms {
  readonly counter: UsageCounter;
  readonly redactorOf: RedactorOf;
  /** Rows arrive faster than they are stored. Small bodies are then not compressed, which saves a third of the work. */
  readonly isBehind: boolean;
}

/** The rows of a batch: missing usage counted, content redacted, bodies compressed. */
export async function rowsOfClosed(
  exchanges: readonly ParsedExchange[],
  { counter, redactorOf, isBehind }: RowTerms,
): Promise<NewLogRow[]> {
  const compressFrom = isBehind ? COMPRESS_FROM_BYTES.behind : COMPRESS_FROM_BYTES.usual;
  const rows: NewLogRow[] = [];
  for (const exchange of exchanges) {
    rows.push(rowOf(withUsage(exchange, counter), redactorOf, compressFrom));
    if (rows.length % ROWS_PER_TURN === 0) await new Promise(setImmediate);
  }
  return rows;
}

function withUsage(exchange: ParsedExchange, counter: UsageCounter): ParsedExchange {
  const { closed } = exchange;
  const record = withCountedUsage(closed.record, counter);
  return record === closed.record ? exchange : { ...exchange, closed: { ...closed, record } };
}

export const redactorFor = (
  { organisation_id, workspace_id }: Pick<NewLogRow['record'], 'organisation_id' | 'workspace_id'>,
  redactorOf: RedactorOf,
): ReturnType<RedactorOf> => redactorOf(organisation_id, workspace_id);

function rowOf(exchange: ParsedExchange, redactorOf: RedactorOf, compressFrom: number): NewLogRow {
  const redactor = redactorFor(exchange.closed.record, redactorOf);
  const { closed, requestBody, responseBody } = redactor ? clearExchange(exchange, redactor) : exchange;
  return {
    record: closed.record,
    request: storedBody('request', closed.request, requestBody, compressFrom),
    response: storedBody('response', closed.response, responseBody, compressFrom),
    raw: { closed, request: requestBody, response: responseBody },
  };
}

const NO_BYTES = Buffer.alloc(0);

/** The rows of exchanges that a dead process left open. */
export function rowsOfCrashed(
  open: Iterable<OpenExchange>,
  diedAt: number,
  redactorOf: RedactorOf,
): NewLogRow[] {
  return [...open].map(({ json }) => {
    const closed = { record: crashedExchange(readOpened(json), diedAt), request: null, response: null };
    return rowOf(
      { closed, requestBody: NO_BYTES, responseBody: NO_BYTES },
      redactorOf,
      COMPRESS_FROM_BYTES.usual,
    );
  });
}

/**
 * `behind` stays below the 2 KiB from which PostgreSQL compresses rows itself: https://www.postgresql.org/docs/current/storage-toast.html
 */
const COMPRESS_FROM_BYTES = { usual: 512, behind: 1_536 } as const;
/** Brotli's own limits: https://www.rfc-editor.org/rfc/rfc7932#section-9.1 */
const SMALLEST_WINDOW_BITS = 10;
const LARGEST_WINDOW_BITS = 22;

const LARGEST_CHUNK = 64 * 1024;

/**
 * Brotli at its fastest level with a window no larger than the body: 10 µs for 1 KiB, instead of 40 with the usual 4 MiB window and the
 * same result, and 70 with gzip at its fastest. The output buffer is as large as the body; the default 16 KiB each would dominate garbage
 * collection. Measured on Node 20.
 */
function compressed(bytes: Buffer): Buffer {
  const bits = Math.ceil(Math.log2(bytes.length)) + 1;
  const window = Math.max(SMALLEST_WINDOW_BITS, Math.min(bits, LARGEST_WINDOW_BITS));
  return brotliCompressSync(bytes, {
    chunkSize: Math.min(bytes.length, LARGEST_CHUNK),
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: window },
  });
}

function storedBody(
  direction: 'request' | 'response',
  facts: BodyFacts | null,
  bytes: Buffer,
  compressFrom: number,
): StoredBody | null {
  if (!facts) return null;
  const { bytes: original_bytes, truncated, content_type, content_encoding } = facts;
  const small = content_encoding === null && bytes.length > compressFrom ? compressed(bytes) : bytes;
  const isSmaller = small.length < bytes.length;
  return {
    bytes: isSmaller ? small : bytes,
    stored_encoding: isSmaller ? 'br' : null,
    original_bytes,
    truncated,
    content_type,
    content_encoding,
    preview: previewOf(direction, facts, bytes),
  };
}
