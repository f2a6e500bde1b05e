import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnService, startService } from '../support/service.js';
import { Collector } from '../support/upstreams/collector.js';
import { Otelcol } from '../support/upstreams/otelcol.js';
import { eventually } from '../support/waiting.js';

/** The binary of a real collector with the OTLP receiver and the file exporter: docs/opentelemetry.md */
const { OTELCOL } = process.env;
const WITHIN = { withinMs: 20_000 };

interface Attributed {
  readonly attributes?: readonly { readonly key: string; readonly value?: object }[];
}
const attributesOf = ({ attributes = [] }: Attributed): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value ?? {})[0]]));

describe(`a collector${OTELCOL === undefined ? '' : ' of the OpenTelemetry project'}`, () => {
  let collector: Collector | Otelcol;
  let service: OwnService;
  beforeAll(async () => {
    collector = OTELCOL === undefined ? await Collector.start() : await Otelcol.start(OTELCOL);
    service = await startService({
      env: {
        GATEHOUSE_PROCESSES: '2',
        GATEHOUSE_ACCESS_LOG: 'all',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRIC_EXPORT_INTERVAL: '1000',
        OTEL_BLRP_SCHEDULE_DELAY: '100',
      },
    });
  });
  afterAll(async () => {
    await service?.dispose();
    await collector?.stop();
  });

  const chat = (headers: Record<string, string> = {}) =>
    service.client.call({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        'x-gateway-api-key': service.bootstrap.workspace_api_key,
        'x-gateway-provider': 'sandbox',
        ...headers,
      },
      body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'A secret prompt' }] },
    });

  it("receives a client's request as spans and as a log line of the same trace", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const { status, headers } = await chat({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    expect(status).toBe(200);
    const id = headers['x-gateway-request-id'];
    const isOwn = (record: Attributed) => attributesOf(record)['gatehouse.request.id'] === id;

    await eventually(() => collector.spans.some(isOwn), { ...WITHIN, what: 'the spans' });
    const request = collector.spans.find(isOwn);
    expect(request).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331', name: 'chat sandbox-1' });
    const attempt = collector.spans.find(({ parentSpanId }) => parentSpanId === request?.spanId);
    expect(attributesOf(attempt ?? {})).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'sandbox',
      'gen_ai.request.model': 'sandbox-1',
      'gen_ai.usage.input_tokens': expect.anything(),
      'gen_ai.usage.output_tokens': expect.anything(),
    });

    await eventually(() => collector.logs.some(isOwn), { ...WITHIN, what: 'the log line' });
    expect(collector.logs.find(isOwn)).toMatchObject({
      severityText: 'INFO',
      body: { stringValue: 'A request ended.' },
      traceId,
      spanId: request?.spanId,
    });
    const everything = JSON.stringify([collector.spans, collector.logs]);
    expect(everything).not.toContain('A secret prompt');
    expect(everything).not.toContain(service.bootstrap.workspace_api_key);
  });

  it('receives the log of every process', async () => {
    const lineOf = (component: string) =>
      collector.logs.find((record) => attributesOf(record)['gatehouse.component'] === component);
    await eventually(() => lineOf('launcher') !== undefined, { ...WITHIN, what: "the supervisor's log" });
    expect(lineOf('launcher')?.traceId ?? '').toBe('');
  });

  it('receives the metrics of all processes together, and those of the GenAI conventions', async () => {
    for (let i = 0; i < 5; i++) await chat();
    const points = (name: string) =>
      collector.metrics.filter((metric) => metric.name === name).at(-1)?.histogram?.dataPoints ?? [];
    const served = () => points('gatehouse_request_duration_seconds').reduce((sum, at) => sum + at.count, 0);
    const seen = new Set<string>();
    const gathered = () => {
      for (const { name } of collector.metrics) seen.add(name);
      return seen.has('gen_ai.client.token.usage') && seen.has('gatehouse_requests_total') && served() >= 6;
    };
    await eventually(gathered, { ...WITHIN, what: 'the metrics' });

    expect(served()).toBe(6);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'gen_ai.client.operation.duration',
        'gatehouse_nodejs_eventloop_lag_seconds',
        'gatehouse_processes_ready',
        'gatehouse_otel_log_lines_total',
      ]),
    );
  });

  it('loses no request and delays none while it is unavailable', async () => {
    await collector.stop();
    const began = performance.now();
    for (let i = 0; i < 20; i++) expect((await chat()).status).toBe(200);
    expect((performance.now() - began) / 20).toBeLessThan(1_000);
    expect(await service.ready()).toBe(true);
  });
});
