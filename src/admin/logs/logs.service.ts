import { Injectable } from '@nestjs/common';
import type { Reach } from '../../auth/tenant.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { toCursor } from './log-cursor.js';
import type { LogDetail } from './log-detail.dto.js';
import type { LogQuery } from './log-query.js';
import { type LogRow, LogRows } from './log-rows.js';
import { readableBody } from './readable-body.js';

/** Reads the request log. A row is there about a second after its request ended. */
@Injectable()
export class LogsService {
  constructor(private readonly rows: LogRows) {}

  /** A page, and the cursor of the next; null when there is none. */
  async list(reach: Reach, query: LogQuery): Promise<[rows: readonly LogRow[], nextCursor: string | null]> {
    const found = await this.rows.list(reach, query);
    const page = found.slice(0, query.size);
    const last = page.at(-1);
    return [page, last && found.length > page.length ? toCursor(last) : null];
  }

  /** Another tenant's request is "not found", and so is a thing that is no id: nobody learns which ids exist. */
  async get(reach: Reach, id: string): Promise<LogDetail> {
    const row = isUuid(id) ? await this.rows.find(reach, id) : undefined;
    if (!row) throw new AppError('not_found', { resource: 'log' });
    const attempts = await this.rows.attemptsOf(row);
    const bodies = await this.rows.bodiesOf(row);
    const message = async (direction: 'request' | 'response') => {
      const body = bodies.find((each) => each.direction === direction);
      return { row: body, readable: await readableBody(body) };
    };
    return { row, attempts, request: await message('request'), response: await message('response') };
  }
}
