import type { z } from 'zod';
import type { SAMPLERS } from './otel-settings-schema.js';
import type { settingsSchema } from './settings-schema.js';

type RawOtelSettings = z.infer<typeof settingsSchema>;

/** Which requests become spans, and what their spans say. */
export interface SpanSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of traces, 0 to 1. */
  readonly ratio: number;
  /** Spans also have the attributes of OpenInference. */
  readonly hasOpenInference: boolean;
  /** The trace and the parent span that a client names are those of its request. */
  readonly trustsClients: boolean;
}

export interface LogExportSettings {
  readonly url: URL;
  readonly everyMs: number;
  readonly queueSize: number;
  readonly batchSize: number;
}

/** What is sent to an OpenTelemetry collector. Null means nothing. OpenTelemetry's own packages read headers, timeout and resource. */
export interface TelemetrySettings {
  /** Including its path. */
  readonly traces: URL | null;
  readonly metrics: { readonly url: URL; readonly everyMs: number } | null;
  readonly logs: LogExportSettings | null;
  readonly spans: SpanSettings;
}

export function telemetryOf(raw: RawOtelSettings): TelemetrySettings {
  const metrics = collectorOf(raw, 'METRICS');
  const logs = collectorOf(raw, 'LOGS');
  return {
    traces: collectorOf(raw, 'TRACES'),
    metrics: metrics && { url: metrics, everyMs: raw.OTEL_METRIC_EXPORT_INTERVAL },
    logs: logs && {
      url: logs,
      everyMs: raw.OTEL_BLRP_SCHEDULE_DELAY,
      queueSize: raw.OTEL_BLRP_MAX_QUEUE_SIZE,
      batchSize: Math.min(raw.OTEL_BLRP_MAX_EXPORT_BATCH_SIZE, raw.OTEL_BLRP_MAX_QUEUE_SIZE),
    },
    spans: {
      sampler: raw.OTEL_TRACES_SAMPLER,
      ratio: raw.OTEL_TRACES_SAMPLER_ARG,
      hasOpenInference: raw.GATEHOUSE_OTEL_OPENINFERENCE === 'on',
      trustsClients: raw.OTEL_PROPAGATORS.split(',').some((name) => name.trim() === 'tracecontext'),
    },
  };
}

const SIGNALS = ['TRACES', 'METRICS', 'LOGS'] as const;
type Signal = (typeof SIGNALS)[number];

const isOn = (raw: RawOtelSettings, signal: Signal): boolean =>
  raw.OTEL_SDK_DISABLED.toLowerCase() !== 'true' && raw[`OTEL_${signal}_EXPORTER`] !== 'none';

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp */
function collectorOf(raw: RawOtelSettings, signal: Signal): URL | null {
  if (!isOn(raw, signal)) return null;
  const own = raw[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  if (own !== undefined) return new URL(own);
  const common = raw.OTEL_EXPORTER_OTLP_ENDPOINT;
  return common === undefined ? null : new URL(`${common.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`);
}

const PROTOCOL = 'http/protobuf';

/** By the given text, not by its parsed value: errors are reported even beside an invalid address. */
function isAskedFor(
  raw: RawOtelSettings,
  environment: Readonly<Record<string, string>>,
  signal: Signal,
): boolean {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  return isOn(raw, signal) && names.some((name) => environment[name] !== undefined);
}

/** Collector settings that this service does not support, so that none is ignored silently. */
export function badCollector(raw: RawOtelSettings, environment: Readonly<Record<string, string>>): string[] {
  if (!SIGNALS.some((signal) => isAskedFor(raw, environment, signal))) return [];
  const certificates = Object.keys(environment)
    .filter((name) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?(?:CERTIFICATE|CLIENT_KEY)$/.test(name))
    .map(
      (name) => `${name}: is not supported; set further certificate authorities with NODE_EXTRA_CA_CERTS.`,
    );
  const protocols = Object.keys(environment)
    .filter((name) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?PROTOCOL$/.test(name) && environment[name] !== PROTOCOL)
    .map((name) => `${name}: must be ${PROTOCOL}, the only supported protocol.`);
  return [...certificates, ...protocols];
}
