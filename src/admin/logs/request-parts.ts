import { Injectable } from '@nestjs/common';
import type { AttemptRow } from '../../request-log/reading/attempt-row.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import type { LogRow } from '../../request-log/reading/log-row.js';

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
  /** It is in the bucket, which cannot be read now. */
  readonly is_out_of_reach?: boolean;
}

const ATTEMPTS = `
  SELECT ${OF_ATTEMPT.join(', ')}
  FROM request_attempts WHERE id = $1 AND created_at = $2::timestamptz AND organisation_id = $3 ORDER BY attempt`;

const BODY_COLUMNS = `
  request_id, direction, headers, body, content_type, content_encoding, stored_encoding, original_bytes, truncated,
  object_key, object_offset, object_length`;

const BODIES = `
  SELECT ${BODY_COLUMNS}
  FROM request_bodies WHERE request_id = $1 AND created_at = $2::timestamptz AND organisation_id = $3`;

const BODIES_OF_ALL = `
  SELECT ${BODY_COLUMNS}
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3`;

const PREVIEWS = `
  SELECT request_id, direction, preview
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3
  WHERE preview IS NOT NULL`;

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

/** The data of a request in other tables: attempts, bodies, and the feedback on its trace. Always in PostgreSQL. */
@Injectable()
export class RequestParts {
  constructor(private readonly database: LogDatabase) {}

  feedbackOn({ organisation_id, workspace_id, trace_id }: LogRow): Promise<readonly FeedbackRow[]> {
    return this.database.read(FEEDBACK, [organisation_id, workspace_id, trace_id]);
  }

  attemptsOf({ id, at, organisation_id }: LogRow): Promise<readonly ShownAttempt[]> {
    return this.database.read(ATTEMPTS, [id, at, organisation_id]);
  }

  /** Headers and bodies of several requests of one organization. */
  bodiesOfAll(
    rows: readonly Pick<LogRow, 'id' | 'at' | 'organisation_id'>[],
  ): Promise<readonly (BodyRow & { readonly request_id: string })[]> {
    return this.database.read(BODIES_OF_ALL, [
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows[0]?.organisation_id,
    ]);
  }

  /** Previews of requests of one organization and their responses. */
  previewsOf(rows: readonly Pick<LogRow, 'id' | 'at' | 'organisation_id'>[]): Promise<readonly PreviewRow[]> {
    return this.database.read(PREVIEWS, [
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows[0]?.organisation_id,
    ]);
  }

  bodiesOf({
    id,
    at,
    organisation_id,
  }: LogRow): Promise<readonly (BodyRow & { readonly request_id: string })[]> {
    return this.database.read(BODIES, [id, at, organisation_id]);
  }
}
