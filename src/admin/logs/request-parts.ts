import { Inject, Injectable } from '@nestjs/common';
import type { AttemptRow } from '../../request-log/reading/attempt-row.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import type { LogRow } from '../../request-log/reading/log-row.js';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE } from '../../request-log/analytics/clickhouse/clickhouse.module.js';
import { type BodyOwner, ClickHouseBodies } from '../../request-log/bodies/clickhouse-bodies.js';
import { startOf } from '../../request-log/rollups/granularities.js';

const OF_ATTEMPT = [
  ...([
    'attempt',
    'option_path',
    'provider',
    'virtual_key_id',
    'origin',
    'started_at',
    'first_byte_ms',
  ] as const),
  ...([
    'duration_ms',
    'status',
    'error_code',
    'input_tokens',
    'output_tokens',
    'cost_nano_usd',
    'price',
    'charged',
    'estimated',
  ] as const),
] satisfies readonly (keyof AttemptRow)[];

/** The displayed fields of an attempt. */
export type ShownAttempt = Pick<AttemptRow, (typeof OF_ATTEMPT)[number]>;

/** A row of `request_bodies`. */
export interface BodyRow {
  readonly direction: 'request' | 'response';
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: Buffer | null;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
  readonly stored_encoding: string | null;
  readonly original_bytes: string;
  readonly truncated: boolean;
  /** Location of a body that was moved out of the database: bytes of an object in the bucket. */
  readonly object_key?: string | null;
  readonly object_offset?: string | null;
  readonly object_length?: number | null;
  /** It is in the bucket or in ClickHouse, which cannot be read now. */
  readonly is_out_of_reach?: boolean;
}

const ATTEMPTS = `
  SELECT ${OF_ATTEMPT.join(', ')}
  FROM request_attempts WHERE id = $1 AND created_at = $2::timestamptz AND organisation_id = $3 ORDER BY attempt`;

const BODY_COLUMNS = `
  request_id, direction, headers, body, content_type, content_encoding, stored_encoding, original_bytes, truncated,
  object_key, object_offset, object_length`;

const BODIES_OF_ALL = `
  SELECT ${BODY_COLUMNS}
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3`;

const PREVIEWS = `
  SELECT request_id, direction, preview
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3
  WHERE preview IS NOT NULL`;

export type RequestBodyRow = BodyRow & { readonly request_id: string };

export type PreviewRow = Pick<BodyRow, 'direction'> & {
  readonly request_id: string;
  readonly preview: string;
};

/** A row of `feedback`. */
export interface FeedbackRow {
  readonly id: string;
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: Date;
}

/** Number of entries shown; one more is read to find out whether there are more. */
export const MOST_FEEDBACK = 100;

const FEEDBACK = `
  SELECT id, value, weight, metadata, created_at FROM feedback
  WHERE organization_id = $1 AND workspace_id = $2 AND trace_id = $3 ORDER BY created_at, id LIMIT ${MOST_FEEDBACK + 1}`;

/**
 * The data of a request in other tables: attempts and feedback in PostgreSQL; bodies there, and those of earlier days that PostgreSQL has
 * dropped (`GATEHOUSE_POSTGRES_BODY_DAYS`) in ClickHouse.
 */
@Injectable()
export class RequestParts {
  private readonly copies: ClickHouseBodies | null;

  constructor(
    private readonly database: LogDatabase,
    @Inject(CLICKHOUSE) clickhouse: ClickHouse | null,
  ) {
    this.copies = clickhouse && new ClickHouseBodies(clickhouse);
  }

  feedbackOn({ organisation_id, workspace_id, trace_id }: LogRow): Promise<readonly FeedbackRow[]> {
    return this.database.read(FEEDBACK, [organisation_id, workspace_id, trace_id]);
  }

  attemptsOf({ id, at, organisation_id }: LogRow): Promise<readonly ShownAttempt[]> {
    return this.database.read(ATTEMPTS, [id, at, organisation_id]);
  }

  /** Headers and bodies of several requests of one organization. Rejects when a store that may have some is unavailable. */
  async bodiesOfAll(requests: readonly BodyOwner[]): Promise<readonly RequestBodyRow[]> {
    const stored = await this.database.read<RequestBodyRow>(BODIES_OF_ALL, placesOf(requests));
    const dropped = this.dropped(requests, stored);
    return dropped.length > 0 ? [...stored, ...((await this.copies?.of(dropped)) ?? [])] : stored;
  }

  /** Those of a single request. While ClickHouse is unavailable, bodies that it may have are marked as unreadable. */
  async bodiesOf(request: BodyOwner): Promise<readonly RequestBodyRow[]> {
    const stored = await this.database.read<RequestBodyRow>(BODIES_OF_ALL, placesOf([request]));
    if (this.dropped([request], stored).length === 0) return stored;
    return this.copies?.of([request]).catch(() => unreadable(request)) ?? [];
  }

  /** Previews of requests of one organization and their responses; while ClickHouse is unavailable, without those that only it has. */
  async previewsOf(requests: readonly BodyOwner[]): Promise<readonly PreviewRow[]> {
    const stored = await this.database.read<PreviewRow>(PREVIEWS, placesOf(requests));
    const dropped = this.dropped(requests, stored);
    if (dropped.length === 0) return stored;
    return [...stored, ...((await this.copies?.previewsOf(dropped).catch(() => [])) ?? [])];
  }

  /** The requests whose bodies PostgreSQL may have dropped: it drops none before their day has ended. */
  private dropped(
    requests: readonly BodyOwner[],
    stored: readonly { readonly request_id: string }[],
  ): readonly BodyOwner[] {
    if (!this.copies) return [];
    const known = new Set(stored.map(({ request_id }) => request_id));
    const today = startOf('day', Date.now());
    return requests.filter(({ id, at }) => !known.has(id) && Date.parse(at) < today);
  }
}

const placesOf = (
  requests: readonly BodyOwner[],
): [ids: string[], times: string[], organization: string | undefined] => [
  requests.map(({ id }) => id),
  requests.map(({ at }) => at),
  requests[0]?.organisation_id,
];

const unreadable = ({ id }: BodyOwner): readonly RequestBodyRow[] =>
  (['request', 'response'] as const).map((direction) => ({
    request_id: id,
    direction,
    headers: null,
    body: null,
    content_type: null,
    content_encoding: null,
    stored_encoding: null,
    original_bytes: '0',
    truncated: false,
    is_out_of_reach: true,
  }));
