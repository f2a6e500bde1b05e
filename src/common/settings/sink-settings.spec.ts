import { describe, expect, it } from 'vitest';
import { loadSettings, SettingsError } from './settings.js';

const BUCKET = {
  GATEHOUSE_S3_BUCKET: 'logs',
  GATEHOUSE_S3_ACCESS_KEY_ID: 'id',
  GATEHOUSE_S3_SECRET_ACCESS_KEY: 'canary',
};

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe('sinks in the settings', () => {
  it('are all off by default', () => {
    expect(loadSettings({})).toMatchObject({
      s3: null,
      sinks: { s3Seconds: null, webhook: null },
      telemetry: { traces: null, metrics: null, logs: null },
    });
  });

  it.each(['GATEHOUSE_LOG_BODIES=s3', 'GATEHOUSE_EXPORT_STORE=s3', 'GATEHOUSE_SINK_S3=on'])(
    'need a bucket for %s',
    (setting) => {
      const [name = '', value = ''] = setting.split('=');
      expect(problemsOf({ [name]: value })).toEqual(
        Object.keys(BUCKET).map((needed) => `${needed}: is required by ${setting}.`),
      );
      expect(problemsOf({ ...BUCKET, [name]: value })).toEqual([]);
    },
  );

  it('do not show the secret of the bucket', () => {
    expect(JSON.stringify(loadSettings(BUCKET).s3)).not.toContain('canary');
  });

  it('need a secret for the webhook, and an address that may be called', () => {
    const url = 'http://169.254.169.254/latest';
    expect(problemsOf({ GATEHOUSE_SINK_WEBHOOK_URL: url })).toEqual([
      expect.stringMatching(/^GATEHOUSE_SINK_WEBHOOK_URL: .*stays closed/),
      'GATEHOUSE_SINK_WEBHOOK_SECRET: is required by GATEHOUSE_SINK_WEBHOOK_URL.',
    ]);
  });

  it('name the collector as OpenTelemetry does', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/base/';
    const own = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example/in' };
    const of = (more: Record<string, string>) => {
      const { telemetry } = loadSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, ...more });
      const { traces, metrics, logs } = telemetry;
      return [traces?.href, metrics?.url.href, logs?.url.href];
    };
    const base = 'http://collector:4318/base/v1/';
    expect(of({})).toEqual([`${base}traces`, `${base}metrics`, `${base}logs`]);
    expect(of(own)).toEqual([`${base}traces`, 'https://metrics.example/in', `${base}logs`]);
    expect(of({ OTEL_TRACES_EXPORTER: 'none' })).toEqual([undefined, `${base}metrics`, `${base}logs`]);
    expect(of({ OTEL_LOGS_EXPORTER: 'none' })).toEqual([`${base}traces`, `${base}metrics`, undefined]);
    expect(of({ OTEL_SDK_DISABLED: 'true' })).toEqual([undefined, undefined, undefined]);
  });

  it('choose samplers and trust in clients by their standard names', () => {
    const of = (more: Record<string, string>) => loadSettings(more).telemetry.spans;
    expect(of({})).toEqual({
      sampler: 'parentbased_always_on',
      ratio: 1,
      hasOpenInference: false,
      trustsClients: true,
    });
    expect(of({ OTEL_PROPAGATORS: 'none' }).trustsClients).toBe(false);
    expect(of({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' })).toMatchObject({
      sampler: 'traceidratio',
      ratio: 0.1,
    });
    expect(
      problemsOf({
        OTEL_TRACES_SAMPLER: 'jaeger_remote',
        OTEL_TRACES_SAMPLER_ARG: '2',
        OTEL_PROPAGATORS: 'b3',
      }),
    ).toEqual([
      expect.stringMatching(/^OTEL_TRACES_SAMPLER: /),
      expect.stringMatching(/^OTEL_TRACES_SAMPLER_ARG: /),
      expect.stringMatching(/^OTEL_PROPAGATORS: must be tracecontext, baggage or none/),
    ]);
  });

  it('refuse what the collector would be spoken to otherwise, but only where there is one', () => {
    const asked = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: '/run/own.pem',
    };
    expect(problemsOf(asked)).toEqual([]);
    expect(problemsOf({ ...asked, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' })).toEqual([
      expect.stringContaining('OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE'),
      expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'),
    ]);
  });

  it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])(
    'report a wrong protocol beside an invalid address: %s',
    (name) => {
      const asked = { [name]: 'not an address', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
      expect(problemsOf(asked)).toEqual([
        expect.stringMatching(new RegExp(`^${name}: `)),
        expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'),
      ]);
      expect(problemsOf({ ...asked, OTEL_SDK_DISABLED: 'true' })).toHaveLength(1);
    },
  );
});
