import type { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import { webhookSignature } from '../../common/http/webhook-signature.js';
import type { Consignment, LogDestination } from './log-sink.js';
import type { SentRow } from './sent-row.js';

const MOST_ROWS = 500;
const MOST_CHARACTERS = 1_048_576;

/**
 * Posts requests as JSON Lines, some hundreds per call, signed like all webhooks of this service. A 2xx response means delivered; redirects
 * are not followed. When one call of a delivery fails, the others may be repeated: receivers deduplicate by `id`.
 */
export class WebhookSink implements LogDestination {
  readonly id = 'webhook';
  readonly gathering = { rows: 2_000, seconds: 2 };

  constructor(
    private readonly egress: Egress,
    private readonly target: { readonly url: URL; readonly secret: Secret },
  ) {}

  async deliver(consignment: Consignment, signal: AbortSignal): Promise<void> {
    for (const body of bodiesOf(await consignment.rows())) await this.post(body, signal);
  }

  close(): Promise<void> {
    return this.egress.close();
  }

  private async post(body: string, signal: AbortSignal): Promise<void> {
    const { url, secret } = this.target;
    const answer = await this.egress.pool('log sink', url.origin).request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: [
        ...['content-type', 'application/x-ndjson'],
        ...['user-agent', 'gatehouse'],
        ...webhookSignature(secret.reveal(), body),
      ],
      body,
      signal,
    });
    // The response body is not read: only the status counts.
    answer.body.on('error', () => undefined).destroy();
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`it returned status ${answer.statusCode}`);
  }
}

function* bodiesOf(rows: readonly SentRow[]): Generator<string> {
  let lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const line = `${JSON.stringify(row)}\n`;
    if (lines.length === MOST_ROWS || (lines.length > 0 && length + line.length > MOST_CHARACTERS)) {
      yield lines.join('');
      lines = [];
      length = 0;
    }
    lines.push(line);
    length += line.length;
  }
  if (lines.length > 0) yield lines.join('');
}
