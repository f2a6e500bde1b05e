import type { SpanSettings } from '../../../common/settings/otel-settings.js';
import { OTLP_TIMEOUTS } from '../../../common/net/store-timeouts.js';
import type { Egress } from '../../../egress/egress.js';
import { exportItems, telemetryResource, throughEgress } from '../../../telemetry/exporting.js';
import type { Consignment, LogDestination } from '../log-sink.js';
import { samplerFor } from './sampling.js';
import { spansOf } from './spans-of.js';

const MOST_SPANS = 512;

/** Sends each sampled request to an OpenTelemetry collector as spans. Requests imported as spans are not sent back. */
export class TraceSink implements LogDestination {
  readonly id = 'otlp-traces';
  readonly gathering = { rows: 1_000, seconds: 2 };
  private readonly way: ReturnType<typeof throughEgress>;
  private opened: ReturnType<TraceSink['load']> | undefined;

  constructor(
    egress: Egress,
    private readonly url: URL,
    private readonly settings: SpanSettings,
  ) {
    this.way = throughEgress(egress);
  }

  async deliver(consignment: Consignment): Promise<void> {
    const { exporter, origin, isSampled } = await (this.opened ??= this.load());
    const rows = (await consignment.rows()).filter((row) => row.source !== 'otlp' && isSampled(row));
    if (rows.length === 0) return;
    const guardrails = await consignment.guardrailRuns();
    const spans = rows.flatMap((row) =>
      spansOf({ row, guardrails: guardrails.get(row.id) ?? [] }, origin, this.settings),
    );
    for (let at = 0; at < spans.length; at += MOST_SPANS)
      await exportItems(exporter, spans.slice(at, at + MOST_SPANS));
  }

  async close(): Promise<void> {
    await (await this.opened)?.exporter.shutdown();
    await this.way.close();
  }

  private async load() {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
    const { agentFor } = this.way;
    const exporter = new OTLPTraceExporter({
      url: this.url.href,
      timeoutMillis: OTLP_TIMEOUTS.commandMs,
      httpAgentOptions: agentFor as never,
    });
    return { exporter, origin: await telemetryResource(), isSampled: await samplerFor(this.settings) };
  }
}
