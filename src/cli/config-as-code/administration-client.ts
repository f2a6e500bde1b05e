import { z } from 'zod';
import type { Secret } from '../../common/settings/secret.js';
import { LauncherError } from '../launcher-error.js';

export type JsonRecord = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 30_000;
const PAGE_SIZE = 100;
const REFUSAL = z.object({ error: z.object({ message: z.string(), code: z.string() }) });
const LIST = z.object({ total: z.number(), data: z.array(z.record(z.string(), z.unknown())) });

/** A refusal by the administration, as a sentence for the operator. */
export class AdministrationRefusal extends LauncherError {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The REST administration as a client: its rules and its audit trail apply to these commands, too. */
export class AdministrationClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: Secret,
  ) {}

  /** Throws `AdministrationRefusal`, also when no service responds. */
  async send(method: string, path: string, body?: JsonRecord, ifMatch?: string): Promise<JsonRecord> {
    const answer = await this.ask(method, path, body, ifMatch);
    const text = await answer.text();
    const read = parsed(text);
    if (answer.ok) return read;
    const refusal = REFUSAL.safeParse(read);
    const reason = refusal.success ? refusal.data.error.message : `status ${answer.status}`;
    throw new AdministrationRefusal(answer.status, `${method} ${path}: ${reason}`);
  }

  /** All pages of a list. */
  async all(path: string): Promise<JsonRecord[]> {
    const records: JsonRecord[] = [];
    for (let page = 0; ; page++) {
      const joint = path.includes('?') ? '&' : '?';
      const answer = await this.send('GET', `${path}${joint}current_page=${page}&page_size=${PAGE_SIZE}`);
      const { total, data } = LIST.parse(answer);
      records.push(...data);
      if (data.length < PAGE_SIZE || records.length >= total) return records;
    }
  }

  private async ask(method: string, path: string, body?: JsonRecord, ifMatch?: string): Promise<Response> {
    try {
      return await fetch(`${this.baseUrl}${path}`, {
        method,
        headers: {
          'x-gateway-api-key': this.apiKey.reveal(),
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (cause) {
      throw new LauncherError(
        `There is no service at ${this.baseUrl}. Start it, or name its address with --url.`,
        { cause },
      );
    }
  }
}

function parsed(text: string): JsonRecord {
  try {
    return JSON.parse(text === '' ? '{}' : text) as JsonRecord;
  } catch {
    return {};
  }
}
