import type { AppliedPrice } from '../../common/contracts/price.js';

/** A row of `request_attempts`; `bigint` is a text. */
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
  readonly cached_input_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_nano_usd: string | null;
  readonly price: AppliedPrice | null;
  /** Counter keys of the budgets that it was charged to. */
  readonly charged: readonly string[] | null;
  readonly estimated: boolean | null;
}
