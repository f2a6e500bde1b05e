import type { ClientRequest } from '../../common/http/messages.js';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { LogSink, PriceBook } from '../ports.js';
import { type Entry, ExchangeRecorder } from './entry.js';

/** Creates the record of each exchange. */
@Injectable()
export class Journal {
  constructor(
    private readonly sink: LogSink,
    readonly prices: PriceBook,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'outputTokensCeiling'>,
  ) {}

  begin(request: ClientRequest): Entry {
    return new ExchangeRecorder(request, this.sink, this.prices, this.settings.outputTokensCeiling);
  }
}
