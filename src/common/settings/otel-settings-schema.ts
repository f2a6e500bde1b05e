import { z } from 'zod';

const http = z.url({ protocol: /^https?$/, error: 'it must be an address such as https://host/path' });
const signal = z
  .string()
  .refine((name) => name === 'otlp' || name === 'none', 'must be otlp or none')
  .default('otlp');
const whole = (standard: number) => z.coerce.number().int().min(1).default(standard);

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * OpenTelemetry's own variables, with their standard names and defaults:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const otelSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: http
    .optional()
    .describe('OpenTelemetry collector for traces, metrics and logs. Default: none.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http.optional().describe('Collector for traces only, with its path.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: http.optional().describe('Collector for metrics only, with its path.'),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: http.optional().describe('Collector for logs only, with its path.'),
  OTEL_TRACES_EXPORTER: signal.describe('none turns traces off.'),
  OTEL_METRICS_EXPORTER: signal.describe('none turns metrics off.'),
  OTEL_LOGS_EXPORTER: signal.describe('none turns logs off.'),
  OTEL_SDK_DISABLED: z.string().default('false').describe('true turns traces, metrics and logs off.'),
  OTEL_METRIC_EXPORT_INTERVAL: whole(60_000).describe('Milliseconds between two exports of metrics.'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_always_on')
    .describe('Which requests are sent as spans. The request log always has all of them.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of traces, 0 to 1, for the samplers with traceidratio.'),
  OTEL_PROPAGATORS: z
    .string()
    .refine(
      (names) => names.split(',').every((name) => ['tracecontext', 'baggage', 'none'].includes(name.trim())),
      'must be tracecontext, baggage or none',
    )
    .default('tracecontext,baggage')
    .describe("none starts a trace per request and links it to the client's."),
  OTEL_BLRP_SCHEDULE_DELAY: whole(1_000).describe('Milliseconds between two exports of logs.'),
  OTEL_BLRP_MAX_QUEUE_SIZE: whole(2_048).describe('Log lines that wait for the collector in one process.'),
  OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: whole(512).describe('Log lines per export.'),
  GATEHOUSE_OTEL_OPENINFERENCE: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Whether spans also have the attributes of OpenInference.'),
};
