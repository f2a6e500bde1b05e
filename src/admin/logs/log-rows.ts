import { Injectable } from '@nestjs/common';
import type { Reach } from '../../auth/tenant.js';
import { LogDatabase } from './log-database.js';
import type { LogQuery } from './log-query.js';

/** A row of `request_logs`; `bigint` comes as text. `at` is the exact time of arrival, for the cursor. */
export interface LogRow {
  readonly id: string;
  readonly created_at: Date;
  readonly at: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly workspace_slug: string | null;
  readonly api_key_id: string;
  readonly user_id: string | null;
  readonly virtual_key_id: string | null;
  readonly virtual_key: string | null;
  readonly config_id: string | null;
  readonly config_version_id: string | null;
  readonly option_path: string | null;
  readonly decisions: readonly string[] | null;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly parent_span_id: string | null;
  readonly span_name: string | null;
  readonly method: string;
  readonly path: string;
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly response_model: string | null;
  readonly streamed: boolean;
  readonly ending: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly error_source: string | null;
  readonly duration_ms: number;
  readonly first_token_ms: number | null;
  readonly overhead_us: number;
  readonly request_bytes: string;
  readonly response_bytes: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly audio_input_tokens: number | null;
  readonly audio_output_tokens: number | null;
  readonly usage_source: string;
  readonly cost_nano_usd: string | null;
  readonly attempt_count: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** A row of `request_attempts`. */
export interface AttemptRow {
  readonly attempt: number;
  readonly option_path: string | null;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  readonly origin: string;
  readonly started_at: Date;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_nano_usd: string | null;
}

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
}

const LOG_COLUMNS = `
  id, created_at, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, organisation_id,
  workspace_id, (SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id) AS workspace_slug,
  api_key_id, user_id, virtual_key_id, virtual_key, config_id, config_version_id, option_path, decisions, trace_id, span_id, parent_span_id, span_name, method, path, endpoint,
  provider, model, response_model, streamed, ending, status, error_code, error_source, duration_ms, first_token_ms,
  overhead_us, request_bytes, response_bytes, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
  reasoning_tokens, audio_input_tokens, audio_output_tokens, usage_source, cost_nano_usd, attempt_count, metadata`;

const ATTEMPTS = `
  SELECT attempt, option_path, provider, virtual_key_id, origin, started_at, first_byte_ms, duration_ms, status, error_code,
    input_tokens, output_tokens, cost_nano_usd
  FROM request_attempts WHERE id = $1 AND created_at = $2::timestamptz AND organisation_id = $3 ORDER BY attempt`;

const BODIES = `
  SELECT direction, headers, body, content_type, content_encoding, stored_encoding, original_bytes, truncated
  FROM request_bodies WHERE request_id = $1 AND created_at = $2::timestamptz AND organisation_id = $3`;

/** The queries of the request log. Values travel as parameters and never as SQL. */
@Injectable()
export class LogRows {
  constructor(private readonly database: LogDatabase) {}

  /** Newest first, and one row more than a page holds, if there is one. */
  list(reach: Reach, { conditions, after, size }: LogQuery): Promise<readonly LogRow[]> {
    const query = new Where(reach);
    for (const { sql, parameter } of conditions) query.and(sql, parameter);
    if (after) {
      const at = query.bind(after.at);
      query.and((id) => `(created_at, id) < (${at}::timestamptz, ${id}::uuid)`, after.id);
    }
    const limit = query.bind(size + 1);
    return this.database.read(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql} ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
      query.parameters,
    );
  }

  async find(reach: Reach, id: string): Promise<LogRow | undefined> {
    const query = new Where(reach);
    query.and((placeholder) => `id = ${placeholder}::uuid`, id);
    const [row] = await this.database.read<LogRow>(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql}`,
      query.parameters,
    );
    return row;
  }

  attemptsOf({ id, at, organisation_id }: LogRow): Promise<readonly AttemptRow[]> {
    return this.database.read(ATTEMPTS, [id, at, organisation_id]);
  }

  bodiesOf({ id, at, organisation_id }: LogRow): Promise<readonly BodyRow[]> {
    return this.database.read(BODIES, [id, at, organisation_id]);
  }
}

/** The conditions of a query and their parameters. It begins with the reach: there is no query without one. */
class Where {
  readonly parameters: unknown[] = [];
  readonly #conditions: string[] = [];

  constructor({ organizationId, workspaceId }: Reach) {
    this.and((placeholder) => `organisation_id = ${placeholder}::uuid`, organizationId);
    if (workspaceId !== undefined)
      this.and((placeholder) => `workspace_id = ${placeholder}::uuid`, workspaceId);
  }

  get sql(): string {
    return this.#conditions.join(' AND ');
  }

  bind(parameter: unknown): string {
    return `$${this.parameters.push(parameter)}`;
  }

  and(sql: (placeholder: string) => string, parameter: unknown): void {
    this.#conditions.push(sql(this.bind(parameter)));
  }
}
