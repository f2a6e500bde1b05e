import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { visibilityOf } from '../../auth/permissions/visibility.js';
import { reachOf } from '../../auth/tenant.js';
import type { ApiKey } from './api-key.entity.js';
import { LOG_FILTERS } from '../../request-log/reading/log-filters.js';
import { AnalyticsReader } from '../../request-log/analytics/usage-store.js';

/** When keys were last used, by their id. A key without an entry was not used in the last 30 days. */
export type LastUse = ReadonlyMap<string, string>;

const MINUTE_MS = 60_000;
const RANGE_MS = 30 * 24 * 60 * MINUTE_MS;

/** Reads when API keys were last used from the rollups: requests write nothing for this. */
@Injectable()
export class KeyUseService {
  constructor(private readonly usage: AnalyticsReader) {}

  /** One query for all of them. A caller who sees only the traffic of their own keys gets no other key's use. */
  async lastUseOf(caller: Principal, keys: readonly Pick<ApiKey, 'id'>[]): Promise<LastUse> {
    if (keys.length === 0) return new Map();
    const to = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const { sql, inClickHouse } = LOG_FILTERS.api_key_ids;
    const ofKeys = { sql, inClickHouse, on: ['api_key_id'], parameter: keys.map(({ id }) => id) };
    const { rows } = await this.usage.groups(
      reachOf(caller),
      { range: { from: to - RANGE_MS, to }, conditions: [...visibilityOf(caller), ofKeys] },
      {
        by: { kind: 'id', dimension: 'api_key_id' },
        measures: ['requests', 'last_seen'],
        orderBy: { sumOf: ['last_seen'] },
        direction: 'desc',
        page: { skip: 0, take: keys.length },
      },
    );
    return new Map(
      rows.flatMap(([id, sums]) => {
        const moment = sums.moment('last_seen');
        return moment === null ? [] : [[id, moment]];
      }),
    );
  }
}
