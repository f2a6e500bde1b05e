import type { ServerResponse } from 'node:http';
import type { LogQuery } from '../rows/log-query.js';

export interface LiveStreamOptions {
  readonly response: ServerResponse;
  /** The place among the streams of a workspace that it takes. */
  readonly place: string;
  readonly organizationId: string;
  readonly workspaceId?: string | undefined;
  readonly conditions: LogQuery['conditions'];
  /** Rejects when the caller may not read any more. */
  readonly check: () => Promise<void>;
}

/**
 * One reader of new requests. What it cannot take at once is not kept for it: it is counted, and told when it can take
 * something again. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class LiveStream {
  #dropped = 0;

  constructor(readonly options: LiveStreamOptions) {}

  get isOver(): boolean {
    return this.options.response.destroyed || this.options.response.writableEnded;
  }

  /** `more`: rows besides these that fit as well and were not read. */
  send(rows: readonly { readonly id: string }[], more: number): void {
    const { response } = this.options;
    if (this.isOver) return;
    if (response.writableNeedDrain) {
      this.#dropped += rows.length + more;
      return;
    }
    this.#dropped += more;
    if (this.#dropped > 0) this.#write('dropped', { count: this.#dropped });
    this.#dropped = 0;
    for (const row of rows) {
      if (response.writableNeedDrain) this.#dropped += 1;
      else this.#write('log', row, row.id);
    }
  }

  /** So that nobody on the way takes silence for an end. */
  beat(): void {
    if (!this.isOver && !this.options.response.writableNeedDrain)
      this.options.response.write(': still here\n\n');
  }

  end(reason: string): void {
    if (this.isOver) return;
    this.#write('end', { reason });
    this.options.response.end();
  }

  #write(event: string, data: object, id?: string): void {
    this.options.response.write(
      `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  }
}
