import { z } from 'zod';

const http = z.url({ protocol: /^https?$/, error: 'it must be an address such as https://host/path' });
const otlpSignal = z
  .string()
  .refine((name) => name === 'otlp' || name === 'none', 'must be otlp or none')
  .default('otlp');

/** Rows of the settings table about places outside: the bucket, and where stored requests are sent on to. */
export const sinkSettings = {
  GATEHOUSE_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional()
    .describe('Bucket of an S3-compatible store, for bodies, exports and batches of the log.'),
  GATEHOUSE_S3_ENDPOINT: http
    .optional()
    .describe('Address of the store, reached in path style. Default: Amazon S3 of GATEHOUSE_S3_REGION.'),
  GATEHOUSE_S3_REGION: z.string().min(1).default('us-east-1').describe('Region of the bucket.'),
  GATEHOUSE_S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('Access key for the bucket.'),
  GATEHOUSE_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Its secret.'),
  GATEHOUSE_S3_PREFIX: z
    .string()
    .regex(/^([\w.-]+\/)*$/, 'must end in a slash')
    .default('gatehouse/')
    .describe('What the keys of all objects begin with.'),
  GATEHOUSE_SINK_S3: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Whether stored requests are also written to the bucket, as gzipped JSON Lines.'),
  GATEHOUSE_SINK_S3_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(60)
    .describe('How long requests gather for one object at most.'),
  GATEHOUSE_SINK_WEBHOOK_URL: http
    .optional()
    .describe('Address that stored requests of all organizations are posted to, as JSON Lines.'),
  GATEHOUSE_SINK_WEBHOOK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe('What those calls are signed with. Needed with GATEHOUSE_SINK_WEBHOOK_URL.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: http
    .optional()
    .describe('Collector for traces and metrics of requests. Default: none are sent.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http.optional().describe('The same for traces alone, with its path.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: http.optional().describe('The same for metrics alone, with its path.'),
  OTEL_TRACES_EXPORTER: otlpSignal.describe('none sends no traces.'),
  OTEL_METRICS_EXPORTER: otlpSignal.describe('none sends no metrics.'),
  OTEL_SDK_DISABLED: z.string().default('false').describe('true sends neither.'),
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce
    .number()
    .int()
    .min(1)
    .default(60_000)
    .describe('Milliseconds between two exports of metrics.'),
};
