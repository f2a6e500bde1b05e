/** A row of `request_logs`; `bigint` comes as text. `at` is the exact time of arrival, for the cursor. */
export interface LogRow {
  readonly id: string;
  readonly created_at: Date;
  readonly at: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly workspace_slug: string | null;
  readonly api_key_id: string | null;
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
  readonly prompt_slug: string | null;
  readonly cache_status: string | null;
  readonly cache_score: number | null;
  readonly saved_nano_usd: string | null;
  readonly retry_count: number | null;
  readonly fallback_count: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly hook_results: Readonly<Record<string, unknown>> | null;
  readonly source: string | null;
}

/** A success is what is no error in analytics, and what the filter `is_success` finds. */
export const isSuccess = ({ status }: Pick<LogRow, 'status'>): boolean => status < 400;
