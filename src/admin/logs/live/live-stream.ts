import type { ServerResponse } from 'node:http';
import { AppError } from '../../../common/errors/app-error.js';
import type { QueryCondition } from '../../../request-log/reading/log-filters.js';
import type { NewBatch } from './new-batches.js';

export interface LiveStreamOptions {
  readonly response: ServerResponse;
  /** The workspace slot that it occupies. */
  readonly place: string;
  readonly organizationId: string;
  readonly workspaceId?: string | undefined;
  /** The filters of the caller. */
  readonly conditions: readonly QueryCondition[];
  /** Limits on what the caller may see. */
  readonly own: readonly QueryCondition[];
  /** The caller's current limits; rejects when access was revoked. */
  readonly check: () => Promise<readonly QueryCondition[]>;
}

/** Maximum number of unread batches. If the database is unavailable for longer, the oldest are lost. */
const MOST_WAITING = 1_000;
const SERVER_ERROR = 500;
/** Memory for a client that reads more slowly than requests arrive: about 600 rows. */
const MOST_UNREAD_BYTES = 1_048_576;

/**
 * One client of the live log. Rows wait in the response's buffer. Beyond `MOST_UNREAD_BYTES`, rows are counted and dropped; the count is
 * sent once the client has caught up. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class LiveStream {
  private dropped = 0;
  private waiting: readonly NewBatch[] = [];
  private own: readonly QueryCondition[];

  constructor(readonly options: LiveStreamOptions) {
    this.own = options.own;
    // Node emits it when everything written was sent: https://nodejs.org/api/http.html#event-drain
    options.response.on('drain', () => this.reportDropped());
  }

  get conditions(): readonly QueryCondition[] {
    return [...this.options.conditions, ...this.own];
  }

  get hasEnded(): boolean {
    return this.options.response.destroyed || this.options.response.writableEnded;
  }

  /** Ends the stream of a caller that may no longer read. A caller that cannot be checked stays connected. */
  async check(): Promise<void> {
    try {
      this.own = await this.options.check();
    } catch (error) {
      if (!(error instanceof AppError) || error.spec.status >= SERVER_ERROR) throw error;
      this.end('key_revoked');
    }
  }

  /** Sends these batches, after those that failed before, in order. A failing batch comes first next time. */
  async take(batches: readonly NewBatch[], read: (batch: NewBatch) => Promise<void>): Promise<void> {
    this.waiting = [...this.waiting, ...batches].slice(-MOST_WAITING);
    for (let next = this.waiting[0]; next && !this.hasEnded; next = this.waiting[0]) {
      await read(next);
      this.waiting = this.waiting.slice(1);
    }
  }

  /** `more`: number of further matching rows that were not read. */
  send(rows: readonly { readonly id: string }[], more: number): void {
    if (this.hasEnded) return;
    for (const row of rows) {
      if (this.hasSpace) this.write('log', row, row.id);
      else this.dropped += 1;
    }
    this.dropped += more;
    this.reportDropped();
  }

  /** Keeps proxies from closing an idle connection. */
  beat(): void {
    if (!this.hasEnded && this.hasSpace) this.options.response.write(': still here\n\n');
  }

  end(reason: string): void {
    if (this.hasEnded) return;
    this.write('end', { reason });
    this.options.response.end();
  }

  private get hasSpace(): boolean {
    return this.options.response.writableLength < MOST_UNREAD_BYTES;
  }

  private reportDropped(): void {
    if (this.dropped === 0 || this.hasEnded || !this.hasSpace) return;
    this.write('dropped', { count: this.dropped });
    this.dropped = 0;
  }

  private write(event: string, data: object, id?: string): void {
    this.options.response.write(
      `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  }
}
