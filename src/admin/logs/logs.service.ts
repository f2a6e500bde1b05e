import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { Visibility } from '../../auth/permissions/visibility.js';
import type { Reach } from '../../auth/tenant.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { toCursor } from './rows/log-cursor.js';
import type { LogDetail } from './log-detail.dto.js';
import type { LogQuery } from './rows/log-query.js';
import type { LogRow } from '../../request-log/reading/log-row.js';
import { KeptLogs } from '../../request-log/reading/kept-logs.js';
import { type KeyNames, KeyNamesReader } from '../../request-log/reading/key-names.js';
import { LogRows } from './rows/log-rows.js';
import { MOST_FEEDBACK, RequestParts } from './request-parts.js';
import type { CappedCount, Previews } from './log.dto.js';
import { spanTree, type Trace } from './span-tree.js';
import { readableBody } from './readable-body.js';
import { RouteParts } from './route/route-parts.js';
import { StoredBodies } from './stored-bodies.js';

const MOST_COUNTED = 10_000;
const MOST_SPANS = 1_000;
const LONGEST_TRACE = 1_024;

/** Reads the request log. A row appears about a second after its request ended. */
@Injectable()
export class LogsService {
  constructor(
    private readonly rows: LogRows,
    private readonly parts: RequestParts,
    private readonly route: RouteParts,
    private readonly bodies: StoredBodies,
    private readonly kept: KeptLogs,
    private readonly names: KeyNamesReader,
  ) {}

  /** A page, and the cursor of the next; null when there is none. */
  async list(reach: Reach, query: LogQuery): Promise<[rows: readonly LogRow[], nextCursor: string | null]> {
    const conditions = [...query.conditions, ...(await this.kept.conditions(reach))];
    const found = await this.rows.list(reach, { ...query, conditions });
    const page = found.slice(0, query.size);
    const last = page.at(-1);
    return [page, last && found.length > page.length ? toCursor(last) : null];
  }

  /** Previews of a page's requests and responses, by request; none for a caller that may not see bodies, or for expired bodies. */
  async previews(caller: Principal, rows: readonly LogRow[]): Promise<ReadonlyMap<string, Previews>> {
    const found = new Map<string, { -readonly [Name in keyof Previews]: Previews[Name] }>();
    const kept = caller.scopes.has('logs.view') ? await this.kept.withBodies(rows) : [];
    for (const { request_id, direction, preview } of kept.length > 0
      ? await this.parts.previewsOf(kept)
      : []) {
      const of = found.get(request_id) ?? {};
      of[`${direction}_preview`] = preview;
      found.set(request_id, of);
    }
    return found;
  }

  /** Names of the API keys of a page. */
  keyNames({ organizationId }: Principal, rows: readonly LogRow[]): Promise<KeyNames> {
    return this.names.of(
      organizationId,
      rows.map(({ api_key_id }) => api_key_id),
    );
  }

  async count(reach: Reach, query: LogQuery): Promise<CappedCount> {
    const total = await this.countMatches(reach, query.conditions);
    return { total, total_is_capped: total > MOST_COUNTED };
  }

  /** The same count for responses that can do without it: null when it exceeds the statement timeout. */
  async countInTime(reach: Reach, conditions: LogQuery['conditions']): Promise<number | null> {
    try {
      return await this.countMatches(reach, conditions);
    } catch (error) {
      if (error instanceof AppError && error.code === 'query_timeout') return null;
      throw error;
    }
  }

  /** All requests of a trace as a tree. A trace without requests is "not found", as is another tenant's. */
  async trace(reach: Visibility, traceId: string): Promise<Trace> {
    const isText = traceId.length <= LONGEST_TRACE && !traceId.includes('\0');
    const rows = isText ? await this.rows.trace(await this.seen(reach), traceId, MOST_SPANS + 1) : [];
    if (rows.length === 0) throw new AppError('not_found', { resource: 'trace' });
    return { traceId, roots: spanTree(rows.slice(0, MOST_SPANS)), isCut: rows.length > MOST_SPANS };
  }

  /** Another tenant's request is "not found", and so is an invalid id: callers cannot find out which ids exist. */
  async get(reach: Visibility, id: string): Promise<LogDetail> {
    const row = isUuid(id) ? await this.rows.find(await this.seen(reach), id) : undefined;
    if (!row) throw new AppError('not_found', { resource: 'log' });
    const attempts = await this.parts.attemptsOf(row);
    const keyNames = await this.names.of(row.organisation_id, [row.api_key_id]);
    const config = await this.route.configOf(row);
    const budgets = await this.route.budgetsOf(row, attempts);
    const feedback = await this.parts.feedbackOn(row);
    const hasBodies = (await this.kept.withBodies([row])).length > 0;
    const stored = hasBodies ? await this.parts.bodiesOf(row) : [];
    const bodies = await this.bodies.broughtIfThere(row.organisation_id, stored);
    const message = async (direction: 'request' | 'response') => {
      const body = bodies.find((each) => each.direction === direction);
      return { row: body, readable: await readableBody(body) };
    };
    return {
      row,
      apiKeyName: keyNames.get(row.api_key_id ?? '') ?? null,
      attempts,
      config,
      budgets,
      feedback: feedback.slice(0, MOST_FEEDBACK),
      hasMoreFeedback: feedback.length > MOST_FEEDBACK,
      request: await message('request'),
      response: await message('response'),
    };
  }

  private async countMatches(reach: Reach, conditions: LogQuery['conditions']): Promise<number> {
    const kept = await this.kept.conditions(reach);
    return this.rows.count(reach, { conditions: [...conditions, ...kept] }, MOST_COUNTED + 1);
  }

  /** What a caller may see, without expired rows. */
  private async seen(reach: Visibility): Promise<Visibility> {
    return { ...reach, own: [...reach.own, ...(await this.kept.conditions(reach))] };
  }
}
