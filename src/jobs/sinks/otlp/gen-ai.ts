import type { Attributes } from '@opentelemetry/api';
import { operationNameOf, telemetryNameOf } from '../../../providers/catalog/telemetry-names.js';
import type { SentAttempt, SentRow } from '../sent-row.js';

/**
 * Attributes by the semantic conventions for generative AI, which are in development; version 1.42:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
 */
export const whatOf = ({ endpoint, model, response_model }: SentRow, provider: string | null): Attributes =>
  known({
    'gen_ai.operation.name': operationNameOf(endpoint),
    'gen_ai.provider.name': provider === null ? null : telemetryNameOf(provider),
    'gen_ai.request.model': model,
    'gen_ai.response.model': response_model,
  });

/** The server of an attempt: the scheme, host and port that were called. */
export function serverOf({ origin }: SentAttempt): Attributes {
  if (!URL.canParse(origin)) return {};
  const { protocol, hostname, port } = new URL(origin);
  const usual = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) };
}

/** Totals include the finer kinds. */
export const usageAttributes = (attempt: SentAttempt): Attributes =>
  known({
    'gen_ai.usage.input_tokens': attempt.input_tokens,
    'gen_ai.usage.output_tokens': attempt.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': attempt.cached_input_tokens,
    'gen_ai.usage.cache_creation.input_tokens': attempt.cache_write_tokens,
    'gen_ai.usage.reasoning.output_tokens': attempt.reasoning_tokens,
    'gatehouse.cost_nano_usd': attempt.cost_nano_usd,
  });

/** The class of error that an attempt ended with; undefined on success. */
export function errorOf({ status, error_code }: SentAttempt): string | undefined {
  if (error_code !== null) return error_code;
  if (status === null) return '_OTHER';
  return status >= 400 ? String(status) : undefined;
}

/** Without unknown values. */
export function known(
  values: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>,
): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(values))
    if (value !== null && value !== undefined)
      attributes[name] = typeof value === 'object' ? [...value] : value;
  return attributes;
}
