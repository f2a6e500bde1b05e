import { fieldNamed } from '../../common/http/fields.js';
import { invalidResponse } from './http1-error.js';
import { LineReader } from './line-reader.js';

const TRAILER_BYTES_MAX = 64 * 1024;

/** Reads the fields after a chunked body, which are dropped: https://www.rfc-editor.org/rfc/rfc9112#section-7.1.2 */
export class TrailerReader extends LineReader {
  constructor() {
    super(TRAILER_BYTES_MAX);
  }

  begin(): void {
    this.restart();
  }

  protected override onLine(text: string, start: number, end: number): void {
    const colon = text.indexOf(':', start);
    const field = colon < 0 || colon > end ? null : fieldNamed(text.slice(start, colon));
    if (field === null) throw invalidResponse('a trailer has no valid name');
    if (field.kind === 'content-length' || field.kind === 'transfer-encoding')
      throw invalidResponse('a trailer has a content-length');
  }
}
