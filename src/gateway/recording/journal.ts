import type { ClientRequest } from '../../common/http/messages.js';
import { Injectable } from '@nestjs/common';
import { LogSink, PriceBook } from '../ports.js';
import { type Entry, ExchangeRecorder } from './entry.js';

/** Creates the record of each exchange. */
@Injectable()
export class Journal {
  constructor(
    private readonly sink: LogSink,
    readonly prices: PriceBook,
  ) {}

  begin(request: ClientRequest): Entry {
    return new ExchangeRecorder(request, this.sink, this.prices);
  }
}
