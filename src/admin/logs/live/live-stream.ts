import type { ServerResponse } from 'node:http';
import { AppError } from '../../../common/errors/app-error.js';
import type { QueryCondition } from '../../../request-log/reading/log-filters.js';
import type { NewBatch } from './new-batches.js';

export interface LiveStreamOptions {
  readonly response: ServerResponse;
  /** The place among the streams of a workspace that it takes. */
  readonly place: string;
  readonly organizationId: string;
  readonly workspaceId?: string | undefined;
  /** The filters of the caller. */
  readonly conditions: readonly QueryCondition[];
  /** What the caller may see. */
  readonly own: readonly QueryCondition[];
  /** What the caller may see by now; rejects when that is nothing any more. */
  readonly check: () => Promise<readonly QueryCondition[]>;
}

/** Of those that could not be read yet. A database that is unavailable for longer than that loses the oldest. */
const MOST_WAITING = 1_000;
const SERVER_ERROR = 500;
/** What is kept in memory for a reader that is slower than requests arrive: about 600 rows. */
const MOST_UNREAD_BYTES = 1_048_576;

/**
 * One reader of new requests. Rows wait in the buffer of the response while the reader takes them. Beyond `MOST_UNREAD_BYTES` rows are counted
 * and not kept; the count is sent as soon as the reader has caught up. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class LiveStream {
  #dropped = 0;
  #waiting: readonly NewBatch[] = [];
  #own: readonly QueryCondition[];

  constructor(readonly options: LiveStreamOptions) {
    this.#own = options.own;
    // Node emits it when all that was written has left: https://nodejs.org/api/http.html#event-drain
    options.response.on('drain', () => this.#reportDropped());
  }

  get conditions(): readonly QueryCondition[] {
    return [...this.options.conditions, ...this.#own];
  }

  get isOver(): boolean {
    return this.options.response.destroyed || this.options.response.writableEnded;
  }

  /** Ends it for a caller that may no longer read. A caller that cannot be checked is not a refused one. */
  async check(): Promise<void> {
    try {
      this.#own = await this.options.check();
    } catch (error) {
      if (!(error instanceof AppError) || error.spec.status >= SERVER_ERROR) throw error;
      this.end('key_revoked');
    }
  }

  /** Takes these, and those that could not be taken before, in their order. When one rejects, it comes first the next time. */
  async take(batches: readonly NewBatch[], read: (batch: NewBatch) => Promise<void>): Promise<void> {
    this.#waiting = [...this.#waiting, ...batches].slice(-MOST_WAITING);
    for (let next = this.#waiting[0]; next && !this.isOver; next = this.#waiting[0]) {
      await read(next);
      this.#waiting = this.#waiting.slice(1);
    }
  }

  /** `more`: rows besides these that match as well and were not read. */
  send(rows: readonly { readonly id: string }[], more: number): void {
    if (this.isOver) return;
    for (const row of rows) {
      if (this.#hasRoom) this.#write('log', row, row.id);
      else this.#dropped += 1;
    }
    this.#dropped += more;
    this.#reportDropped();
  }

  /** So that no proxy on the way takes silence for the end. */
  beat(): void {
    if (!this.isOver && this.#hasRoom) this.options.response.write(': still here\n\n');
  }

  end(reason: string): void {
    if (this.isOver) return;
    this.#write('end', { reason });
    this.options.response.end();
  }

  get #hasRoom(): boolean {
    return this.options.response.writableLength < MOST_UNREAD_BYTES;
  }

  #reportDropped(): void {
    if (this.#dropped === 0 || this.isOver || !this.#hasRoom) return;
    this.#write('dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  #write(event: string, data: object, id?: string): void {
    this.options.response.write(
      `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  }
}
