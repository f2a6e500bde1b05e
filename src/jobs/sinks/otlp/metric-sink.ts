import type { Counter, Histogram } from '@opentelemetry/api';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { OTLP_TIMEOUTS } from '../../../common/net/store-timeouts.js';
import type { Egress } from '../../../egress/egress.js';
import type { Consignment, LogDestination } from '../log-sink.js';
import type { SentRow } from '../sent-row.js';
import { exportItems, telemetryResource, throughEgress } from '../../../telemetry/exporting.js';
import { errorOf, known, serverOf, whatOf } from './gen-ai.js';

/** https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-metrics.md */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const MS_PER_S = 1_000;
const NANO = 1_000_000_000;
const MOST_ROWS = 5_000;

interface Instruments {
  readonly duration: Histogram;
  readonly tokens: Histogram;
  readonly firstChunk: Histogram;
  readonly cost: Counter;
}

/**
 * Sends durations, usage and cost of requests to an OpenTelemetry collector. A batch is measured once per process and kept until the
 * collector has accepted it, so an unavailable collector causes no gap. Aggregating over processes is the collector's task: each process
 * has its own `service.instance.id`.
 */
export class MetricSink implements LogDestination {
  readonly id = 'otlp-metrics';
  readonly gathering;
  private readonly way: ReturnType<typeof throughEgress>;
  private opened: ReturnType<MetricSink['load']> | undefined;
  /** Metrics that the collector has not accepted yet, and the last batch they include. */
  private waiting: { readonly upTo: string; readonly metrics: ResourceMetrics } | null = null;

  constructor(
    egress: Egress,
    private readonly url: URL,
    everyMs: number,
  ) {
    this.way = throughEgress(egress);
    this.gathering = { rows: MOST_ROWS, seconds: everyMs / MS_PER_S };
  }

  async deliver(consignment: Consignment): Promise<void> {
    const { exporter, reader, instruments } = await (this.opened ??= this.load());
    if (this.waiting) await exportItems(exporter, this.waiting.metrics);
    const counted = BigInt(this.waiting?.upTo ?? 0);
    const batches = consignment.batches.filter(({ seq }) => BigInt(seq) > counted);
    this.waiting = null;
    const last = batches.at(-1);
    if (!last) return;
    for (const row of await consignment.rowsOf(batches)) measure(instruments, row);
    const { resourceMetrics: metrics } = await reader.collect();
    this.waiting = { upTo: last.seq, metrics };
    await exportItems(exporter, metrics);
    this.waiting = null;
  }

  async close(): Promise<void> {
    const opened = await this.opened;
    await opened?.exporter.shutdown();
    await this.way.close();
  }

  private async load() {
    const [{ OTLPMetricExporter }, sdk, origin] = await Promise.all([
      import('@opentelemetry/exporter-metrics-otlp-proto'),
      import('@opentelemetry/sdk-metrics'),
      telemetryResource(),
    ]);
    const exporter = new OTLPMetricExporter({
      url: this.url.href,
      timeoutMillis: OTLP_TIMEOUTS.commandMs,
      httpAgentOptions: this.way.agentFor as never,
    });
    /** Collects on demand instead of on a timer: the values belong to the batches that were read. */
    class RegistryReader extends sdk.MetricReader {
      protected override onShutdown(): Promise<void> {
        return Promise.resolve();
      }
      protected override onForceFlush(): Promise<void> {
        return Promise.resolve();
      }
    }
    const reader = new RegistryReader({
      aggregationTemporalitySelector: (type) => exporter.selectAggregationTemporality(type),
    });
    const provider = new sdk.MeterProvider({ resource: origin.resource, readers: [reader] });
    const meter = provider.getMeter(origin.instrumentationScope.name);
    const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
      meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
    const instruments: Instruments = {
      duration: histogram('gen_ai.client.operation.duration', 's', SECONDS),
      tokens: histogram('gen_ai.client.token.usage', '{token}', TOKENS),
      firstChunk: histogram('gen_ai.client.operation.time_to_first_chunk', 's', SECONDS),
      cost: meter.createCounter('gatehouse.cost', { unit: 'USD' }),
    };
    return { exporter, reader, instruments };
  }
}

function measure({ duration, tokens, firstChunk, cost }: Instruments, row: SentRow): void {
  for (const attempt of row.attempts) {
    const what = { ...whatOf(row, attempt.provider), ...serverOf(attempt) };
    const ended = { ...what, ...known({ 'error.type': errorOf(attempt) }) };
    duration.record(attempt.duration_ms / MS_PER_S, ended);
    const { input_tokens, output_tokens, cost_nano_usd } = attempt;
    if (input_tokens !== null) tokens.record(input_tokens, { ...what, 'gen_ai.token.type': 'input' });
    if (output_tokens !== null) tokens.record(output_tokens, { ...what, 'gen_ai.token.type': 'output' });
    if (cost_nano_usd !== null) cost.add(cost_nano_usd / NANO, what);
  }
  if (row.streamed && row.first_token_ms !== null && row.attempts.length > 0)
    firstChunk.record(row.first_token_ms / MS_PER_S, whatOf(row, row.provider));
}
