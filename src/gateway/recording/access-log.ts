import { type DestinationStream, type Logger, pino } from 'pino';
import type { Principal } from '../../auth/principal.js';
import type { AppError } from '../../common/errors/app-error.js';
import { clientCertificateOf } from '../../common/http/client-certificate.js';
import type { ClientRequest } from '../../common/http/messages.js';
import { withCopies } from '../../common/observability/log-output.js';
import { readableLines } from '../../common/observability/readable-lines.js';
import { logFormat } from '../../common/settings/log-settings.js';
import type { Settings } from '../../common/settings/settings.js';
import type { RequestLogRecord } from '../../request-log/record.js';

/** Longer texts come from clients. A line must fit into one write to a pipe, or lines of two processes could mix. */
const LONGEST = { path: 200, name: 120, error: 400 } as const;
/** https://man7.org/linux/man-pages/man7/pipe.7.html (PIPE_BUF) */
const WRITE_BYTES = 4_096;
const BUFFERED_BYTES = 3_000;
const FLUSH_MS = 200;
/** Lines are dropped, instead of filling the memory, when nobody reads the output. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
const NANO = 1e9;

/** One ended exchange. */
export interface AccessedExchange {
  readonly record: RequestLogRecord;
  readonly request: ClientRequest;
  readonly caller: Principal;
  /** The gateway's own error; null for a response, also for a refusal of the provider. */
  readonly error: AppError | null;
}

let accessLog: AccessLog | null = null;

/** Starts the access log of this process, unless the settings turn it off. */
export function startAccessLog(settings: Pick<Settings, 'accessLog' | 'slowRequestMs' | 'logLevel'>): void {
  if (settings.accessLog === 'off' || settings.logLevel === 'silent') return;
  accessLog = new AccessLog(settings, standardOutput());
}

/** Does nothing without an access log. */
export function logAccess(exchange: AccessedExchange): void {
  accessLog?.add(exchange);
}

function standardOutput(): DestinationStream {
  const output = pino.destination({
    fd: 1,
    sync: false,
    minLength: BUFFERED_BYTES,
    maxWrite: WRITE_BYTES,
    maxLength: WAITING_BYTES_MAX,
    periodicFlush: FLUSH_MS,
  });
  return withCopies(logFormat() === 'text' ? readableLines(output) : output);
}

/** A line for each request, or for each failed or slow one, on standard output. It never holds a credential or content. */
export class AccessLog {
  private readonly logger: Logger;

  constructor(
    private readonly settings: Pick<Settings, 'accessLog' | 'slowRequestMs'>,
    destination: DestinationStream,
  ) {
    this.logger = pino(
      {
        base: { pid: process.pid, component: 'access' },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      destination,
    );
  }

  add(exchange: AccessedExchange): void {
    const { status, error_code, duration_ms } = exchange.record;
    const isFailed = status >= 400 || error_code !== null;
    const isSlow = duration_ms >= this.settings.slowRequestMs;
    if (this.settings.accessLog === 'errors' && !isFailed && !isSlow) return;
    const text = isFailed ? 'A request failed.' : isSlow ? 'A slow request ended.' : 'A request ended.';
    this.logger.info(fieldsOf(exchange), text);
  }
}

/** Fields without a value are left out. */
function fieldsOf({ record, request, caller, error }: AccessedExchange): object {
  const certificate = clientCertificateOf(request);
  return {
    request_id: record.id,
    trace_id: record.trace_id,
    span_id: known(record.span_id),
    key_name: cut(caller.name, LONGEST.name),
    client_certificate: known(certificate && cut(certificate, LONGEST.path)),
    workspace_id: known(record.workspace_id),
    method: record.method,
    path: cut(withoutQuery(record.path), LONGEST.path),
    endpoint: known(record.endpoint),
    provider: known(record.provider),
    virtual_key: known(record.virtual_key),
    model: known(record.model && cut(record.model, LONGEST.name)),
    status: record.status,
    ending: record.ending,
    ...failureOf(record, error),
    attempts: record.attempts.length,
    cache_status: known(record.cache_status),
    duration_ms: Math.round(record.duration_ms),
    first_token_ms: known(record.first_token_ms && Math.round(record.first_token_ms)),
    input_tokens: record.usage?.input_tokens,
    output_tokens: record.usage?.output_tokens,
    cost_usd: known(record.cost_nano_usd && record.cost_nano_usd / NANO),
  };
}

function failureOf({ error_code, error_source }: RequestLogRecord, error: AppError | null): object {
  if (error_code === null && error_source === null) return {};
  const cause = error?.cause as { readonly code?: unknown } | undefined;
  return {
    error_code: error_code ?? undefined,
    error_source: error_source ?? undefined,
    error: error ? cut(error.message, LONGEST.error) : undefined,
    cause: typeof cause?.code === 'string' ? cause.code : undefined,
  };
}

const withoutQuery = (path: string): string => path.split('?', 1)[0] ?? '';

/** Absent in JSON if there is none. */
const known = <T>(value: T | null): T | undefined => value ?? undefined;

const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;
