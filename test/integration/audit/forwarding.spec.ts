import { createHash, createHmac } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { Egress } from '../../../src/egress/egress.js';
import { parseEgressAllow } from '../../../src/common/net/egress-allow.js';
import { SettingsModule } from '../../../src/common/settings/settings.module.js';
import { AuditForwarder } from '../../../src/jobs/audit-forwarding/audit-forwarder.js';
import { AuditForwardingModule } from '../../../src/jobs/audit-forwarding/audit-forwarding.module.js';
import { DueBatches } from '../../../src/jobs/audit-forwarding/due-batches.js';
import { deliveryChecks } from '../../../src/adapters/delivery-checks.js';
import { forwardingMetrics } from '../../../src/jobs/audit-forwarding/forwarding-metrics.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import {
  DatagramReceiver,
  SyslogReceiver,
  WebhookReceiver,
} from '../../support/upstreams/audit-receivers.js';
import { LOCALHOST_CERTIFICATE } from '../../support/upstreams/localhost-certificate.js';
import { eventually } from '../../support/waiting.js';

const DESTINATIONS = '/v1/audit-logs/destinations';
const OPEN = '127.0.0.1:*,localhost:*';
const SECRET = 'canary-of-the-signature';
/** For receivers that answer, and for those that never will. */
const TRY_MS = 30_000;
const HANGING_TRY_MS = 1_000;

describe('forwarding of audit records', () => {
  let app: AdminApp;
  let webhook: WebhookReceiver;
  const egress = new Egress({ allow: parseEgressAllow(OPEN).rules, timeouts: { connectMs: 2_000 } });
  const running: INestApplicationContext[] = [];

  beforeAll(async () => {
    app = await AdminApp.start({ GATEHOUSE_EGRESS_ALLOW: OPEN });
    webhook = await WebhookReceiver.start();
  });
  afterAll(async () => {
    await webhook.stop();
    await egress.close();
    await app.close();
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
    await app.dataSource.query('DELETE FROM audit_destinations');
    webhook.deliveries.length = 0;
    webhook.next.length = 0;
  });

  const forwarder = (tryMs = TRY_MS) =>
    new AuditForwarder(new DueBatches(app.dataSource), app.box, egress, tryMs);
  const create = async (more: object): Promise<Json> => {
    const answer = await app.call('POST', DESTINATIONS, { body: { name: 'SIEM', ...more } });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const aWebhook = (more: object = {}) => create({ url: webhook.url, secret: SECRET, ...more });
  const stateOf = async ({ id }: Json): Promise<Json> =>
    (await app.call('GET', `${DESTINATIONS}/${id}`)).body.status;
  const change = (name: string) => app.call('PUT', '/v1/admin/organisation', { body: { name } });
  const due = (id: string, after = '0 s') =>
    app.dataSource.query('UPDATE audit_destinations SET next_try_at = now() + $2::interval WHERE id = $1', [
      id,
      after,
    ]);
  /** What a receiver does that trusts nobody: it follows the chain with SHA-256 alone. */
  const checkChain = (lines: readonly string[]) => {
    let previous: string | undefined;
    for (const line of lines) {
      const { hash, previous_hash } = JSON.parse(line);
      const said = line.slice(line.indexOf(',"record":') + ',"record":'.length, -1);
      if (previous !== undefined) expect(previous_hash).toBe(previous);
      const bytes = Buffer.concat([Buffer.from(previous_hash, 'hex'), Buffer.from(said)]);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
      previous = hash;
    }
  };
  const seqs = (lines: readonly string[]) => lines.map((line) => Number(JSON.parse(line).record.seq));

  it('brings all of them in the order of the chain, signed, and lets the receiver check the chain', async () => {
    await change('Before');
    const made = await aWebhook({ from_the_beginning: true });
    await change('After');

    expect(await forwarder().forward(made.id)).toBe('delivered');
    expect(await forwarder().forward(made.id)).toBe('idle');

    const stored = await app.audited();
    expect(seqs(webhook.lines)).toEqual(stored.map(({ seq }) => Number(seq)));
    checkChain(webhook.lines);
    const [delivery] = webhook.deliveries;
    const [, seconds = '', signature] =
      /^t=(\d+),v1=(.*)$/.exec(String(delivery?.headers['x-gateway-signature'])) ?? [];
    expect(signature).toBe(
      createHmac('sha256', SECRET)
        .update(`${seconds}.${delivery?.body ?? ''}`)
        .digest('hex'),
    );
    expect(delivery?.headers['content-type']).toBe('application/x-ndjson');
    expect(await stateOf(made)).toMatchObject({ lag: 0, failures: 0, last_error: null });
  });

  it('of a receiver that accepts nothing is counted, and shown to operators without its name', async () => {
    const made = await aWebhook({ url: 'http://127.0.0.1:1/gatehouse', from_the_beginning: true });
    const [check] = deliveryChecks(app.dataSource);
    const failed = async () => {
      const { values } = await forwardingMetrics.deliveries.get();
      return values.find(({ labels }) => labels.outcome === 'failed')?.value ?? 0;
    };
    const before = await failed();
    await check?.run();

    expect(await forwarder().forward(made.id)).toBe('failed');

    expect(await failed()).toBe(before + 1);
    const { count, seconds } = await new DueBatches(app.dataSource).failing();
    expect([count, seconds >= 0]).toEqual([1, true]);
    await check?.run();
    await app.dataSource.query(
      "UPDATE audit_destinations SET failing_since = failing_since - interval '5 minutes'",
    );
    expect((await new DueBatches(app.dataSource).failing()).seconds).toBeGreaterThan(299);
    await expect(check?.run()).rejects.toThrow(
      /^Audit destinations that accept nothing: 1, the first since 20[-0-9T:.]+Z\.$/,
    );
    await app.dataSource.query('UPDATE audit_destinations SET is_enabled = false');
    await check?.run();
    expect((await new DueBatches(app.dataSource).failing()).count).toBe(0);
  });

  it('begins with now, and says what waits', async () => {
    const made = await aWebhook();
    expect(await stateOf(made)).toMatchObject({ lag: 1, last_delivered_at: null });
    await change('Later');
    await forwarder().forward(made.id);
    expect(webhook.lines.map((line) => JSON.parse(line).record.action)).toEqual([
      'organisation_settings.update',
      'organisation_settings.update',
    ]);
  });

  it.each([
    ['answers 500', (response) => response.writeHead(500).end('canary'), 'it returned status 500'],
    [
      'redirects',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      'it returned status 307',
    ],
    ['hangs', () => undefined, 'it did not respond in time'],
    ['breaks off', (response) => response.socket?.destroy(), /closed|reset/],
  ] as [string, (typeof webhook.next)[number], string | RegExp][])(
    'waits for a receiver that %s, and then brings everything',
    async (_, behaviour, words) => {
      const made = await aWebhook();
      webhook.next.push(behaviour);

      const before = Date.now();
      expect(await forwarder(HANGING_TRY_MS).forward(made.id)).toBe('failed');

      const state = await stateOf(made);
      expect(state).toMatchObject({ failures: 1, lag: 1 });
      expect(state.last_error).toMatch(words);
      expect(Date.parse(state.next_try_at)).toBeGreaterThan(before);
      await due(made.id, '1 hour');
      expect(await forwarder().forward(made.id)).toBe('idle');
      await due(made.id);
      expect(await forwarder().forward(made.id)).toBe('delivered');
      expect(webhook.lines).toHaveLength(1);
      expect(await stateOf(made)).toMatchObject({ failures: 0, last_error: null, lag: 0 });
    },
  );

  it('waits longer after each failure, and at most five minutes', async () => {
    const made = await aWebhook();
    const pauses: number[] = [];
    for (let failed = 0; failed < 12; failed += 1) {
      webhook.next.push((response) => response.writeHead(503).end());
      await due(made.id);
      expect(await forwarder().forward(made.id)).toBe('failed');
      pauses.push(Date.parse((await stateOf(made)).next_try_at) - Date.now());
    }
    expect(pauses[0]).toBeLessThan(2_000);
    expect(pauses[5]).toBeGreaterThan(10_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(300_000);
  });

  it('loses nothing to a process that dies before the cursor moved', async () => {
    const made = await aWebhook();
    // What a process leaves behind that was killed after the receiver answered: a claim, and the old cursor.
    const batches = new DueBatches(app.dataSource);
    const claimed = await batches.claim(made.id);
    expect(claimed).not.toBeNull();
    expect(await forwarder().forward(made.id)).toBe('idle');

    await app.dataSource.query("UPDATE audit_destinations SET leased_until = now() - interval '1 second'");
    expect(await forwarder().forward(made.id)).toBe('delivered');
    expect(webhook.lines).toHaveLength(1);

    // It was not dead, only slow: it cannot take the cursor back, nor away from who has it now.
    await change('Once more');
    await forwarder().forward(made.id);
    const { delivered_seq } = await stateOf(made);
    if (claimed) await batches.advance(claimed, String(Number(claimed.deliveredSeq) + 1));
    if (claimed) await batches.fail(claimed, 'late');
    expect(await stateOf(made)).toMatchObject({ delivered_seq, failures: 0 });
  });

  it('is done by one process at a time', async () => {
    const made = await aWebhook();
    const endings = await Promise.all(Array.from({ length: 6 }, () => forwarder().forward(made.id)));
    expect(endings.filter((ending) => ending === 'delivered')).toHaveLength(1);
    expect(webhook.lines).toHaveLength(1);
  });

  it('speaks syslog over TLS, to a receiver whose certificate it was given and to no other', async () => {
    const sink = await SyslogReceiver.start('tls');
    try {
      const made = await create({ url: sink.url });
      expect(await forwarder().forward(made.id)).toBe('failed');
      expect((await stateOf(made)).last_error).toContain('TLS certificate not valid');

      await app.call('PUT', `${DESTINATIONS}/${made.id}`, {
        body: { ca_certificate: LOCALHOST_CERTIFICATE },
      });
      expect(await forwarder().forward(made.id)).toBe('delivered');

      await eventually(() => sink.messages.length === 2, { what: 'both records' });
      const [first = ''] = sink.messages;
      // RFC 5424: priority, version, time, host, application, process, message, structured data.
      expect(first).toMatch(
        /^<109>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [!-~]+ gatehouse - organisation_settings\.update - \{/,
      );
      checkChain(sink.messages.map((message) => message.slice(message.indexOf('{'))));
    } finally {
      await sink.stop();
    }
  });

  it('supports syslog over TCP, and trusts only a receiver that has read to the end', async () => {
    const sink = await SyslogReceiver.start('tcp');
    try {
      const made = await create({ url: sink.url });
      sink.next.push(
        (socket) => socket.destroy(),
        (socket) => socket.pause(),
      );
      for (const words of [/closed|reset/, /in time/]) {
        expect(await forwarder(HANGING_TRY_MS).forward(made.id)).toBe('failed');
        expect((await stateOf(made)).last_error).toMatch(words);
        await due(made.id);
      }
      expect(await forwarder().forward(made.id)).toBe('delivered');
      await eventually(() => sink.messages.length === 1, { what: 'the record' });
    } finally {
      await sink.stop();
    }
  });

  it('speaks syslog over UDP', async () => {
    const sink = await DatagramReceiver.start();
    try {
      const made = await create({ url: sink.url });
      expect(await forwarder().forward(made.id)).toBe('delivered');
      await eventually(() => sink.messages.length === 1, { what: 'the datagram' });
      checkChain(sink.messages.map((message) => message.slice(message.indexOf('{'))));
    } finally {
      sink.stop();
    }
  });

  it('is announced and done by the background process, and a dead destination holds up no other', async () => {
    const dead = await create({ url: 'tcp://127.0.0.1:1' });
    const alive = await aWebhook();
    const dataSource = await createDataSource(app.url, 4, 'background').initialize();
    const module = await Test.createTestingModule({
      imports: [
        SettingsModule.forRoot(app.settings),
        DatabaseModule.forRoot(dataSource),
        AuditForwardingModule,
      ],
    }).compile();
    module.useLogger(false);
    running.push(await module.init());

    await eventually(async () => (await stateOf(alive)).lag === 0, { what: 'the records' });
    const state = await eventually(
      async () => {
        const found = await stateOf(dead);
        return found.failures > 0 && found;
      },
      { what: 'the failure' },
    );
    expect(state.last_error).toContain('connection refused');
    expect(state.lag).toBeGreaterThan(0);
  });

  it('keeps the secret to itself, and requires it again for another destination', async () => {
    const made = await aWebhook();
    expect(made).toMatchObject({ secret: '***', type: 'webhook', enabled: true });
    const elsewhere = `http://localhost:${new URL(webhook.url).port}/audit`;
    const path = `${DESTINATIONS}/${made.id}`;

    const refused = await app.call('PUT', path, { body: { url: elsewhere } });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'credential_required']);
    expect((await app.call('PUT', path, { body: { url: elsewhere, secret: SECRET } })).status).toBe(200);
    expect(await forwarder().forward(made.id)).toBe('delivered');

    const everywhere = JSON.stringify([
      await app.dataSource.query('SELECT * FROM audit_destinations'),
      await app.audited(),
      (await app.call('GET', DESTINATIONS)).body,
    ]);
    expect(everywhere).not.toContain(SECRET);
    expect(everywhere).not.toContain(Buffer.from(SECRET).toString('hex'));
  });

  it.each(['at least sixteen characters', 'sixteen-or-more-characters'])(
    'takes the secret %j, as docs/audit-log.md shows one',
    async (secret) => {
      const answer = await app.call('POST', DESTINATIONS, {
        body: { name: 'SIEM', url: 'https://siem.example.com/gatehouse', secret, enabled: false },
      });
      expect(answer.status).toBe(200);
      await app.call('DELETE', `${DESTINATIONS}/${String(answer.body.id)}`);
    },
  );

  it.each([
    [{ url: 'https://169.254.169.254/x', secret: SECRET }, 403, 'custom_host_blocked'],
    [{ url: 'udp://8.8.8.8:514' }, 403, 'custom_host_blocked'],
    [{ url: 'tls://10.0.0.1:6514' }, 403, 'custom_host_blocked'],
    [{ url: 'ftp://example.com/x' }, 400, 'custom_host_invalid'],
    [{ url: 'tcp://user@127.0.0.1:514' }, 400, 'custom_host_invalid'],
    [{ url: 'tcp://127.0.0.1' }, 400, 'custom_host_invalid'],
    [{ url: 'http://127.0.0.1:9/x' }, 400, 'credential_required'],
    [{ url: 'tcp://127.0.0.1:9', secret: SECRET }, 400, 'invalid_request'],
    [{ url: 'tls://127.0.0.1:9', ca_certificate: 'x' }, 400, 'invalid_request'],
    [{ url: 'http://127.0.0.1:9/x', secret: 'short' }, 400, 'invalid_request'],
    [{ url: 'http://127.0.0.1:9/x', secret: ' a space before sixteen' }, 400, 'invalid_request'],
  ])('refuses %j', async (body, status, code) => {
    const answer = await app.call('POST', DESTINATIONS, { body: { name: 'SIEM', ...body } });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it('goes to five destinations at most, and to none any more that was removed or paused', async () => {
    const made: Json[] = [];
    for (let index = 0; index < 5; index += 1) made.push(await aWebhook());
    const sixth = await app.call('POST', DESTINATIONS, {
      body: { name: 'x', url: webhook.url, secret: SECRET },
    });
    expect(sixth.status).toBe(409);

    const [paused, removed] = made;
    await app.call('PUT', `${DESTINATIONS}/${paused.id}`, { body: { enabled: false } });
    await app.call('DELETE', `${DESTINATIONS}/${removed.id}`);
    expect(await forwarder().forward(paused.id)).toBe('idle');
    expect(await forwarder().forward(removed.id)).toBe('idle');
    expect((await app.call('GET', `${DESTINATIONS}/${removed.id}`)).status).toBe(404);
  });
});
