import { Injectable } from '@nestjs/common';
import type { Visibility } from '../../auth/permissions/visibility.js';
import { KeyNamesReader } from '../../request-log/reading/key-names.js';
import { type GroupedBy, AnalyticsReader } from '../../request-log/analytics/usage-store.js';
import type { QueryCondition } from '../../request-log/reading/log-filters.js';
import { CUBE, type CubeDimension } from '../../request-log/rollups/dimensions.js';
import { analyticsQueryOf } from './analytics-query.js';
import type { FacetQuery } from './analytics-query.dto.js';
import { shownRange } from './analytics.service.js';
import { FacetDto } from './overview.dto.js';

const of = (dimension: CubeDimension): GroupedBy => ({ kind: 'dimension', dimension });

/** Fields whose values are pre-aggregated in every combination, by the name of their filter. */
export const FACETS = {
  status_code: of('status'),
  model: of('model'),
  provider: of('provider'),
  virtual_key: of('virtual_key'),
  api_key_id: { kind: 'id', dimension: 'api_key_id' },
  config: { kind: 'config' },
  endpoint: of('endpoint'),
  cache_status: of('cache_status'),
} as const satisfies Record<string, GroupedBy>;

export type FacetName = keyof typeof FACETS;

export const isFacet = (name: string): name is FacetName => Object.hasOwn(FACETS, name);

/** The values that a list can be filtered by. Never reads request rows, so its speed does not depend on their number. */
@Injectable()
export class FacetsService {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly names: KeyNamesReader,
  ) {}

  async read(reach: Visibility, query: FacetQuery, name: FacetName): Promise<FacetDto> {
    const { page_size: take } = query;
    const { range, conditions } = analyticsQueryOf(query, []);
    const counted = conditions.filter(isPreAggregated);
    const groups = await this.usage.groups(
      reach,
      { range, conditions: [...reach.own, ...counted] },
      {
        by: FACETS[name],
        measures: ['requests'],
        orderBy: { sumOf: ['requests'] },
        direction: 'desc',
        // One more than shown: the group of requests without a value may be among them.
        page: { skip: 0, take: take + 1 },
      },
    );
    const withValue = groups.rows.filter(([value]) => value !== '');
    const values = withValue
      .slice(0, take)
      .map(([value, sums]) => ({ value, requests: sums.count('requests') }));
    return {
      object: 'analytics-facet',
      range: shownRange(groups.range),
      is_filtered: counted.length === conditions.length,
      has_more: groups.total - (groups.rows.length - withValue.length) > Math.min(withValue.length, take),
      data: name === 'api_key_id' ? await this.names.added(reach.organizationId, values) : values,
    };
  }
}

const isPreAggregated = ({ on }: QueryCondition): boolean =>
  on?.every((dimension) => Object.hasOwn(CUBE, dimension)) ?? false;
