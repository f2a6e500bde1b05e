import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { SpanSettings } from '../../../common/settings/otel-settings.js';
import { spanIdsOf } from '../../../telemetry/trace-ids.js';
import type { SentRow } from '../sent-row.js';

type SamplingRule = 'always_on' | 'always_off' | 'traceidratio';

/** The request log does not keep the decision of a client's span, so the samplers with `parentbased_` decide as for a trace without a parent. */
const ruleOf = (sampler: SpanSettings['sampler']): SamplingRule =>
  sampler.replace('parentbased_', '') as SamplingRule;

/** Decides by the trace alone, so that a request has all of its spans or none, and repeated deliveries agree. */
export async function samplerFor({
  sampler,
  ratio,
  trustsClients,
}: SpanSettings): Promise<(row: SentRow) => boolean> {
  const sdk = await import('@opentelemetry/sdk-trace');
  const rule = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }[ruleOf(sampler)]();
  return (row) => {
    const { traceId } = spanIdsOf({ id: row.id, traceId: row.trace_id, spanId: null }, trustsClients);
    const { decision } = rule.shouldSample(ROOT_CONTEXT, traceId);
    return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
  };
}
