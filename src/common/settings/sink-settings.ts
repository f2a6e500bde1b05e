import type { z } from 'zod';
import { Secret } from './secret.js';
import { ruleFor } from '../net/egress-allow.js';
import { badCollector, type TelemetrySettings, telemetryOf } from './otel-settings.js';
import type { settingsSchema } from './settings-schema.js';

type RawSinkSettings = z.infer<typeof settingsSchema>;

/** A bucket of an S3-compatible store. */
export interface S3Settings {
  readonly bucket: string;
  /** Null means Amazon's own for the region. */
  readonly endpoint: URL | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
}

/** The sinks for stored requests. Null means none. */
export interface SinkSettings {
  /** Seconds for which requests accumulate per object. */
  readonly s3Seconds: number | null;
  readonly webhook: { readonly url: URL; readonly secret: Secret } | null;
}

/** What leaves this service beside requests to providers. */
interface Destinations {
  readonly s3: S3Settings | null;
  readonly sinks: SinkSettings;
  readonly telemetry: TelemetrySettings;
}

export const destinationsOf = (raw: RawSinkSettings): Destinations => ({
  s3: s3Of(raw),
  sinks: sinksOf(raw),
  telemetry: telemetryOf(raw),
});

function s3Of(raw: RawSinkSettings): S3Settings | null {
  const { GATEHOUSE_S3_BUCKET: bucket, GATEHOUSE_S3_ENDPOINT: endpoint } = raw;
  const { GATEHOUSE_S3_ACCESS_KEY_ID: accessKeyId, GATEHOUSE_S3_SECRET_ACCESS_KEY: secret } = raw;
  if (bucket === undefined || accessKeyId === undefined || secret === undefined) return null;
  return {
    bucket,
    endpoint: endpoint === undefined ? null : new URL(endpoint),
    region: raw.GATEHOUSE_S3_REGION,
    accessKeyId,
    secretAccessKey: new Secret(secret),
    prefix: raw.GATEHOUSE_S3_PREFIX,
  };
}

function sinksOf(raw: RawSinkSettings): SinkSettings {
  const { GATEHOUSE_SINK_WEBHOOK_URL: url, GATEHOUSE_SINK_WEBHOOK_SECRET: secret } = raw;
  return {
    s3Seconds: raw.GATEHOUSE_SINK_S3 === 'on' ? raw.GATEHOUSE_SINK_S3_SECONDS : null,
    webhook:
      url === undefined || secret === undefined ? null : { url: new URL(url), secret: new Secret(secret) },
  };
}

const ADDRESSES = [
  'GATEHOUSE_S3_ENDPOINT',
  'GATEHOUSE_SINK_WEBHOOK_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
] as const;

/** Settings that depend on each other must be set together, and addresses must be allowed. */
export function badSinks(raw: RawSinkSettings, environment: Readonly<Record<string, string>>): string[] {
  const closed = ADDRESSES.flatMap((name) => {
    const text = raw[name];
    return text === undefined ? [] : ruleFor(new URL(text)).problems.map((problem) => `${name}: ${problem}`);
  });
  return [
    ...closed,
    ...badBucket(raw),
    ...badLimit(raw),
    ...badWebhook(raw),
    ...badCollector(raw, environment),
  ];
}

function badBucket(raw: RawSinkSettings): string[] {
  const users = [
    raw.GATEHOUSE_LOG_BODIES === 's3' ? 'GATEHOUSE_LOG_BODIES=s3' : null,
    raw.GATEHOUSE_EXPORT_STORE === 's3' ? 'GATEHOUSE_EXPORT_STORE=s3' : null,
    raw.GATEHOUSE_SINK_S3 === 'on' ? 'GATEHOUSE_SINK_S3=on' : null,
    raw.GATEHOUSE_S3_BUCKET === undefined ? null : 'GATEHOUSE_S3_BUCKET',
  ].filter((user) => user !== null);
  const [user] = users;
  if (user === undefined) return [];
  const needed = [
    'GATEHOUSE_S3_BUCKET',
    'GATEHOUSE_S3_ACCESS_KEY_ID',
    'GATEHOUSE_S3_SECRET_ACCESS_KEY',
  ] as const;
  return needed.filter((name) => raw[name] === undefined).map((name) => `${name}: is required by ${user}.`);
}

/** Limit of a single upload: https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html */
const LARGEST_OBJECT = 5 * 1024 ** 3;

function badLimit(raw: RawSinkSettings): string[] {
  if (raw.GATEHOUSE_EXPORT_STORE !== 's3' || raw.GATEHOUSE_EXPORT_LIMIT_BYTES <= LARGEST_OBJECT) return [];
  return [`GATEHOUSE_EXPORT_LIMIT_BYTES: GATEHOUSE_EXPORT_STORE=s3 takes ${LARGEST_OBJECT} bytes at most.`];
}

function badWebhook(raw: RawSinkSettings): string[] {
  const { GATEHOUSE_SINK_WEBHOOK_URL: url, GATEHOUSE_SINK_WEBHOOK_SECRET: secret } = raw;
  if (url === undefined || secret !== undefined) return [];
  return ['GATEHOUSE_SINK_WEBHOOK_SECRET: is required by GATEHOUSE_SINK_WEBHOOK_URL.'];
}
