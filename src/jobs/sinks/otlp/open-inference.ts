import type { Attributes } from '@opentelemetry/api';
import { operationNameOf, telemetryNameOf } from '../../../providers/catalog/telemetry-names.js';
import type { SentAttempt, SentRow } from '../sent-row.js';
import { known } from './gen-ai.js';

const NANO = 1_000_000_000;

const KINDS: Readonly<Record<string, string>> = { embeddings: 'EMBEDDING', rerank: 'RERANKER' };

/**
 * Attributes by the conventions of OpenInference, for a request as served:
 * https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
 */
export const openInferenceOfRequest = ({ metadata }: SentRow): Attributes =>
  known({
    'openinference.span.kind': 'CHAIN',
    'user.id': metadata?.['_user'],
    metadata: metadata && JSON.stringify(metadata),
  });

/** The same for one attempt. Totals include the finer kinds. */
export function openInferenceOfAttempt(row: SentRow, attempt: SentAttempt): Attributes {
  const kind = KINDS[operationNameOf(row.endpoint)] ?? 'LLM';
  const { input_tokens: input, output_tokens: output, cost_nano_usd: cost } = attempt;
  const model = row.response_model ?? row.model;
  return known({
    'openinference.span.kind': kind,
    ...(kind === 'EMBEDDING' ? { 'embedding.model_name': model } : { 'llm.model_name': model }),
    'llm.request.model_name': row.model,
    'llm.response.model_name': row.response_model,
    'llm.provider': attempt.provider,
    'llm.system': telemetryNameOf(attempt.provider),
    'llm.token_count.prompt': input,
    'llm.token_count.completion': output,
    'llm.token_count.total': input === null || output === null ? null : input + output,
    'llm.token_count.prompt_details.cache_read': attempt.cached_input_tokens,
    'llm.token_count.prompt_details.cache_write': attempt.cache_write_tokens,
    'llm.token_count.completion_details.reasoning': attempt.reasoning_tokens,
    'llm.cost.total': cost === null ? null : cost / NANO,
  });
}

export const OPEN_INFERENCE_OF_GUARDRAIL: Attributes = { 'openinference.span.kind': 'GUARDRAIL' };
