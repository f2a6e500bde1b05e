import type { OpenedExchange, RequestLogRecord } from '../../common/contracts/request-log.js';

/**
 * The record of an exchange whose process died: all that is known of it is how it began.
 *
 * Status 500, because to whoever reads error rates a crash of the gateway is a failure of the server; the status that
 * was sent, if any was, died with the process. `diedAt` is the process's last sign of life, so the duration is a bound.
 * Cost is null, not 0: the provider may have answered and billed.
 */
export function crashedExchange(opened: OpenedExchange, diedAt: number): RequestLogRecord {
  const duration = Math.max(0, Math.round(diedAt - opened.created_at));
  const unknown = { first_byte_ms: null, status: null, usage: null, cost_nano_usd: null };
  const attempt = {
    attempt: 0,
    option_path: 'config',
    provider: opened.provider ?? '',
    virtual_key_id: opened.virtual_key_id,
    origin: '',
    started_at: opened.created_at,
    duration_ms: duration,
    error_code: 'gateway_crashed',
    ...unknown,
  };
  return {
    ...opened,
    config_id: null,
    config_version_id: null,
    option_path: 'config',
    decisions: null,
    ending: 'gateway_crashed',
    status: 500,
    error_code: 'gateway_crashed',
    error_source: 'gateway',
    duration_ms: duration,
    first_token_ms: null,
    overhead_us: 0,
    request_bytes: 0,
    response_bytes: 0,
    response_model: null,
    usage: null,
    usage_source: 'none',
    cost_nano_usd: null,
    attempts: [attempt],
    countable: null,
    request_headers: [],
    response_headers: [],
  };
}
