import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../../auth/principal.js';
import { requireScope } from '../../../auth/permissions/require-scope.js';
import type { Reach } from '../../../auth/tenant.js';
import { newestOf, oldestOf } from '../../../request-log/reading/filter-document.js';
import { KeptLogs } from '../../../request-log/reading/kept-logs.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import { AppError } from '../../../common/errors/app-error.js';
import { GRANULARITY_MS } from '../../../request-log/rollups/granularities.js';
import { SETTINGS } from '../../../common/settings/settings.module.js';
import type { Settings } from '../../../common/settings/settings.js';
import { type LogPosition, toCursor } from '../rows/log-cursor.js';
import type { LogQuery } from '../rows/log-query.js';
import type { ListLogsQuery } from '../log-query.dto.js';
import { LogRows } from '../rows/log-rows.js';
import { RequestParts } from '../request-parts.js';
import { readableBody } from '../readable-body.js';
import { StoredBodies } from '../stored-bodies.js';
import { bodyContains } from './body-texts.js';
import { parameterError } from '../../../common/errors/field-errors.js';

const SHORTEST = 3;
const LONGEST = 256;
const MOST_DAYS = 31;
/** Bodies of a request have 640 KiB at most, so a step holds some 30 MiB. */
const STEP = 50;
/** After this many requests, or this long, the response reports the progress and a cursor to continue. */
const MOST_ROWS = 1_000;
const MOST_MS = 4_000;
/** Concurrent searches in this process, which serves other callers, too. */
const MOST_SEARCHES = 2;

export interface SearchedPage {
  readonly rows: readonly LogRow[];
  /** Where to continue; null when everything was searched. */
  readonly nextCursor: string | null;
  /** Requests whose bodies were searched. */
  readonly searched: number;
}

interface SearchRequest {
  readonly logQuery: LogQuery;
  readonly query: ListLogsQuery;
}

/**
 * Finds requests by a text in their bodies. Bodies are compressed individually and not indexed by words, because an index would be a second
 * copy in clear text: so this decompresses and searches those that the other filters leave, newest first, a bounded number per response. A
 * caller that may not see bodies may not search them: the result would reveal their content.
 */
@Injectable()
export class BodySearch {
  private running = 0;

  constructor(
    private readonly rows: LogRows,
    private readonly parts: RequestParts,
    private readonly kept: KeptLogs,
    private readonly stored: StoredBodies,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'bodySearch' | 'logBodies'>,
  ) {}

  async find(caller: Principal, reach: Reach, request: SearchRequest): Promise<SearchedPage> {
    requireScope(caller, 'logs.view');
    this.checkKept(caller);
    const needle = needleIn(request);
    if (this.running >= MOST_SEARCHES)
      throw new AppError('concurrency_limited', { subject: 'searching bodies', limit: MOST_SEARCHES });
    this.running += 1;
    try {
      const conditions = [...request.logQuery.conditions, ...(await this.kept.conditions(reach))];
      return await this.search(reach, { ...request.logQuery, conditions }, needle);
    } finally {
      this.running -= 1;
    }
  }

  private checkKept({ policy }: Principal): void {
    const { bodySearch, logBodies } = this.settings;
    const reasons = [
      [!bodySearch, 'the search is off, and the operator turns it on with GATEHOUSE_BODY_SEARCH=on'],
      [logBodies === 'off', 'this installation stores no bodies in its database (GATEHOUSE_LOG_BODIES)'],
      [policy?.keepsBodies === false, 'the organization stores no bodies ("log_bodies")'],
    ] as const;
    for (const [holds, detail] of reasons)
      if (holds) throw new AppError('body_search_unavailable', { detail });
  }

  private async search(
    reach: Reach,
    { conditions, size, ...query }: LogQuery,
    needle: string,
  ): Promise<SearchedPage> {
    const endsAt = performance.now() + MOST_MS;
    const rows: LogRow[] = [];
    let { after }: { after: LogPosition | null } = query;
    for (let searched = 0; ;) {
      const found = await this.rows.list(reach, { ...query, conditions, after, size: STEP });
      const step = found.slice(0, STEP);
      const bodies = await this.bodiesOf(step);
      for (const row of step) {
        searched += 1;
        after = row;
        if (await isIn(bodies.get(row.id) ?? [], needle)) rows.push(row);
        const isLast = row === found.at(-1);
        const isEnough = rows.length >= size || searched >= MOST_ROWS || performance.now() > endsAt;
        if (isEnough && !isLast) return { rows, nextCursor: toCursor(row), searched };
      }
      if (found.length <= STEP) return { rows, nextCursor: null, searched };
    }
  }

  private async bodiesOf(rows: readonly LogRow[]): Promise<ReadonlyMap<string, Bodies>> {
    const readable = await this.kept.withBodies(rows);
    const [first] = readable;
    if (!first) return new Map();
    const bodies = await this.brought(first.organisation_id, await this.parts.bodiesOfAll(readable));
    const byRequest = new Map<string, Bodies[number][]>();
    for (const body of bodies) {
      const others = byRequest.get(body.request_id);
      if (others) others.push(body);
      else byRequest.set(body.request_id, [body]);
    }
    return byRequest;
  }

  /** Bodies that were not searched must not count as not matching. */
  private async brought(organizationId: string, stored: Bodies): Promise<Bodies> {
    try {
      return await this.stored.brought(organizationId, stored);
    } catch (cause) {
      throw new AppError('bucket_unavailable', {}, { cause });
    }
  }
}

type Bodies = Awaited<ReturnType<RequestParts['bodiesOfAll']>>;

async function isIn(bodies: Bodies, needle: string): Promise<boolean> {
  for (const stored of bodies) if (bodyContains((await readableBody(stored)).body, needle)) return true;
  return false;
}

/** Refuses texts that are too long, and searches that are too broad. */
function needleIn({ logQuery, query }: SearchRequest): string {
  const { search: text = '', filters } = query;
  if (text.length < SHORTEST || text.length > LONGEST)
    throw parameterError('search', `must be a string of ${SHORTEST} to ${LONGEST} characters`);
  if (logQuery.includesTotal)
    throw refused('Results of "search" are not counted. Leave out "include_total".');
  const oldest = oldestOf(filters);
  const spanMs = oldest === null ? Infinity : (newestOf(filters)?.getTime() ?? Date.now()) - oldest.getTime();
  if (spanMs > MOST_DAYS * GRANULARITY_MS.day)
    throw refused(
      `A search needs "time_of_generation_min", at most ${MOST_DAYS} days before now or "time_of_generation_max".`,
    );
  return text.toLowerCase();
}

const refused = (detail: string): AppError => new AppError('invalid_request', { detail });
