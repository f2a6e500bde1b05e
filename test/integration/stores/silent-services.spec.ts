import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/common/settings/secret.js';
import { operatorEgress } from '../../../src/egress/operator-egress.js';
import {
  CLICKHOUSE_TIMEOUTS,
  OBJECT_STORE_TIMEOUTS,
  OTLP_TIMEOUTS,
  SMTP_TIMEOUTS,
} from '../../../src/common/net/store-timeouts.js';
import { ObjectStore } from '../../../src/request-log/bodies/object-store.js';
import { loadSettings } from '../../../src/common/settings/settings.js';
import { ClickHouse } from '../../../src/request-log/analytics/clickhouse/clickhouse.js';
import { Mailer } from '../../../src/jobs/mails/mailer.js';
import { TraceSink } from '../../../src/jobs/sinks/otlp/trace-sink.js';
import { checkClickHouse } from '../../../src/cli/doctor/check-clickhouse.js';
import { Started } from '../../support/started.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { Collector } from '../../support/upstreams/collector.js';
import { S3Server } from '../../support/upstreams/s3.js';
import { MailServer } from '../../support/upstreams/smtp.js';

const MARGIN_MS = 4_000;
const started = new Started();
afterAll(() => started.end());

/** How long something took to fail, milliseconds. */
async function failureOf(work: Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  const failed = await work.then(
    () => false,
    () => true,
  );
  expect(failed).toBe(true);
  return performance.now() - beganAt;
}

async function behind(url: string) {
  const { proxy, url: through } = await TcpProxy.before(url);
  return { proxy: started.add(proxy, (it) => it.stop()), url: through };
}

describe('a service of the operator that accepts and never responds', { concurrent: true }, () => {
  it('costs a part of an object its time limit, and the next one is read', async () => {
    const server = started.add(await S3Server.start(), (it) => it.stop());
    const { proxy, url } = await behind(server.settings['GATEHOUSE_S3_ENDPOINT'] ?? '');
    const settings = loadSettings({ ...server.settings, GATEHOUSE_S3_ENDPOINT: url });
    const store = new ObjectStore(settings.s3 as NonNullable<typeof settings.s3>, settings);
    started.add(store, (it) => it.close());
    const range = { offset: 0, length: 4 };
    await store.put('one', Buffer.from('body'), { type: 'text/plain' });
    expect(String(await store.read('one', range))).toBe('body');

    proxy.mode = 'blackhole';
    expect(await failureOf(store.read('one', range))).toBeLessThan(
      OBJECT_STORE_TIMEOUTS.parts.commandMs + MARGIN_MS,
    );

    proxy.mode = 'pass';
    expect(String(await store.read('one', range))).toBe('body');
  });

  it('costs a mail its time limit, and the next one is sent', async () => {
    const server = started.add(await MailServer.start(), (it) => it.stop());
    const { proxy, url } = await behind(server.url);
    const mailer = new Mailer({ smtpUrl: new Secret(url), from: 'gatehouse@example.com' });
    const mail = { to: 'user@example.com', subject: 'one', text: 'two' };

    proxy.mode = 'halfopen';
    expect(await failureOf(mailer.send(mail))).toBeLessThan(SMTP_TIMEOUTS.connectMs + MARGIN_MS);

    proxy.mode = 'pass';
    await mailer.send(mail);
    expect(server.mails).toHaveLength(1);
  });

  it('costs a delivery of traces its time limit, and the next one is made', async () => {
    const collector = started.add(await Collector.start(), (it) => it.stop());
    const { proxy, url } = await behind(collector.url);
    const traces = new URL(`${url.replace(/\/$/, '')}/v1/traces`);
    const settings = loadSettings({});
    const sink = started.add(
      new TraceSink(operatorEgress(settings, traces, 2), traces, settings.telemetry.spans),
      (it) => it.close(),
    );
    const consignment = {
      batches: [],
      rows: () => Promise.resolve([ROW as never]),
      rowsOf: () => Promise.resolve([ROW as never]),
      guardrailRuns: () => Promise.resolve(new Map()),
    };
    await sink.deliver(consignment);

    proxy.mode = 'blackhole';
    expect(await failureOf(sink.deliver(consignment))).toBeLessThan(OTLP_TIMEOUTS.commandMs + MARGIN_MS);

    proxy.mode = 'pass';
    await sink.deliver(consignment);
  });

  it('costs a reading of ClickHouse its time limit', async () => {
    const { proxy, url } = await behind('http://127.0.0.1:1');
    proxy.mode = 'halfopen';
    const settings = { url: new Secret(url), cluster: undefined };
    const store = await ClickHouse.connect(settings, loadSettings({}).retentionDays);
    started.add(store, (it) => it.onApplicationShutdown());

    const limitMs = CLICKHOUSE_TIMEOUTS.reading.commandMs + MARGIN_MS;
    expect(await failureOf(store.read('SELECT 1', {}))).toBeLessThan(limitMs);
  });

  it('fails the check of doctor for ClickHouse within its time limit', async () => {
    const { proxy, url } = await behind('http://127.0.0.1:1');
    proxy.mode = 'halfopen';
    const beganAt = performance.now();
    const findings = await checkClickHouse({ url: new Secret(url), cluster: undefined });
    expect(findings).toMatchObject([{ check: 'ClickHouse', result: 'failed' }]);
    expect(performance.now() - beganAt).toBeLessThan(CLICKHOUSE_TIMEOUTS.probing.commandMs + MARGIN_MS);
  });
});

/** The least of a row that makes a span. */
const ROW = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  created_at: new Date(),
  trace_id: '01890a5dac96774bbcceb302099a8057',
  span_id: '0123456789abcdef',
  parent_span_id: null,
  span_name: null,
  method: 'POST',
  path: '/v1/chat/completions',
  status: 200,
  duration_ms: 5,
  metadata: {},
  source: null,
  attempts: [],
};
