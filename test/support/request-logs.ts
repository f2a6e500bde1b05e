import { jsonOf } from './http-client.js';
import type { Service } from './service.js';
import { eventually } from './waiting.js';

/** One try, as the log shows it. */
export interface AttemptRow {
  readonly attempt: number;
  readonly provider: string;
  readonly origin: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly cost_nano_usd: number | null;
}

/** One request, as the log shows it. */
export interface LogRow {
  readonly id: string;
  readonly created_at: string;
  readonly workspace_id: string;
  readonly api_key_id: string;
  readonly trace_id: string;
  readonly method: string;
  readonly path: string;
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly virtual_key: string | null;
  readonly model: string | null;
  readonly response_model: string | null;
  readonly streamed: boolean;
  readonly ending: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly error_source: string | null;
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly usage_source: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cost_nano_usd: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly service_tier: string | null;
  readonly dropped_parameters: readonly string[] | null;
  readonly attempts?: readonly AttemptRow[];
}

const PAGE_SIZE = 100;

/** The request log through its own interface, `GET /v1/logs`. */
export class RequestLogs {
  constructor(
    private readonly service: Service,
    private readonly key = service.bootstrap.admin_api_key,
  ) {}

  /** One page; answers the rows and the cursor of the next. */
  async page(query: Readonly<Record<string, string>>): Promise<{ rows: LogRow[]; cursor: string | null }> {
    const { workspace_id } = this.service.bootstrap;
    const parameters = new URLSearchParams({ workspace_id, page_size: String(PAGE_SIZE), ...query });
    const answer = await this.service.client.call({
      path: `/v1/logs?${parameters.toString()}`,
      headers: { 'x-gateway-api-key': this.key },
    });
    if (answer.status !== 200) throw new Error(`GET /v1/logs: ${answer.status} ${answer.body.toString()}`);
    const { data, next_cursor } = jsonOf(answer);
    return { rows: data as LogRow[], cursor: (next_cursor as string | null | undefined) ?? null };
  }

  /** Every row that fits, newest first. */
  async all(query: Readonly<Record<string, string>> = {}): Promise<LogRow[]> {
    const rows: LogRow[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { rows: LogRow[]; cursor: string | null } = await this.page({
        ...query,
        ...(cursor ? { cursor } : {}),
      });
      rows.push(...page.rows);
      cursor = page.cursor;
    }
    return rows;
  }

  /** The row with its attempts and bodies; null while there is none. */
  async find(id: string): Promise<LogRow | null> {
    const answer = await this.service.client.call({
      path: `/v1/logs/${id}`,
      headers: { 'x-gateway-api-key': this.key },
    });
    return answer.status === 200 ? jsonOf(answer) : null;
  }

  /** Waits for the row of a request. */
  row(id: string): Promise<LogRow> {
    return eventually(() => this.find(id), { what: `the log row of ${id}` });
  }
}
