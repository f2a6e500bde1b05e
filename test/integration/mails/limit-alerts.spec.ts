import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretBox } from '../../../src/common/crypto/envelope.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { Egress } from '../../../src/egress/egress.js';
import { HttpCaller } from '../../../src/egress/http-caller.js';
import { loadSettings } from '../../../src/common/settings/settings.js';
import { type Alert, LimitAlerts } from '../../../src/jobs/alerts/limit-alerts.js';
import { Mailer } from '../../../src/jobs/mails/mailer.js';
import { AdminApp } from '../../support/admin-app.js';
import { MailServer } from '../../support/upstreams/smtp.js';

const SECRET = 'the secret of the webhook';
const ORGANIZATION = '/v1/admin/organisation';

interface Heard {
  readonly signature: string | undefined;
  readonly body: string;
}

describe('alerts of budgets', () => {
  let app: AdminApp;
  let mailServer: MailServer;
  let hook: Server;
  let egress: Egress;
  let limitId: string;
  let statuses: number[] = [];
  const heard: Heard[] = [];

  beforeAll(async () => {
    mailServer = await MailServer.start();
    app = await AdminApp.start({ GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*' });
    hook = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const signature = request.headers['x-gateway-signature'];
        heard.push({ signature: String(signature), body: Buffer.concat(chunks).toString() });
        response.writeHead(statuses.shift() ?? 204).end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const { port } = hook.address() as AddressInfo;
    const { egressAllow, timeouts } = loadSettings({ GATEHOUSE_EGRESS_ALLOW: `127.0.0.1:${port}` });
    egress = new Egress({ allow: egressAllow, timeouts });
    const body = { alert_webhook_url: `http://127.0.0.1:${port}/budgets`, alert_webhook_secret: SECRET };
    expect((await app.call('PUT', ORGANIZATION, { body })).status).toBe(200);
    const made = await app.call('POST', '/v1/api-keys/workspace/service', {
      body: {
        name: 'checkout',
        scopes: ['completions.write'],
        workspace_id: app.first.workspace_id,
        usage_limits: { credit_limit: 10, alert_threshold: 8 },
        alert_emails: ['finance@example.com'],
      },
    });
    const [row] = await app.dataSource.query(
      "SELECT usage_limits -> 0 ->> 'id' AS id FROM api_keys WHERE id = $1",
      [made.body.id],
    );
    limitId = row.id as string;
  });
  afterAll(async () => {
    await egress.close();
    hook.close();
    await app.close();
    await mailServer.stop();
  });
  beforeEach(async () => {
    heard.length = 0;
    mailServer.mails.length = 0;
    statuses = [];
    await app.dataSource.query('DELETE FROM limit_events; DELETE FROM limit_counters');
  });

  const alerts = (
    mailer: Mailer | null = new Mailer({ smtpUrl: new Secret(mailServer.url), from: 'g@example.com' }),
  ) =>
    new LimitAlerts(
      app.dataSource,
      new HttpCaller(egress),
      new SecretBox(app.settings.masterKey as Secret),
      mailer,
    );

  /** Charges the budget as the storing of attempts does. */
  const charge = (key: string, dollars: number) =>
    app.dataSource.query('SELECT charge_limits($1)', [
      JSON.stringify([{ counter: key, holder: 'process', leased: 0, amount: dollars * 1e9 }]),
    ]);
  const counter = async (): Promise<string> => {
    const key = `${limitId}@${randomUUID()}`;
    await app.dataSource.query(
      `INSERT INTO limit_counters (key, organization_id, limit_id, measure, amount, alert_amount)
      VALUES ($1, $2, $3, 'cost', 10000000000, 8000000000)`,
      [key, app.first.organisation_id, limitId],
    );
    return key;
  };
  const waiting = async (channel: string): Promise<string[]> =>
    (
      await app.dataSource.query(
        'SELECT id FROM limit_alerts WHERE done_at IS NULL AND channel = $1 ORDER BY created_at, kind DESC',
        [channel],
      )
    ).map(({ id }: { id: string }) => id);

  it('are one for each threshold, period and way of telling, whoever crosses it and however often', async () => {
    const key = await counter();

    await Promise.all(Array.from({ length: 8 }, () => charge(key, 1.1)));
    expect([await waiting('mail'), await waiting('webhook')].map(({ length }) => length)).toEqual([1, 1]);
    await Promise.all(Array.from({ length: 8 }, () => charge(key, 1.1)));
    expect([await waiting('mail'), await waiting('webhook')].map(({ length }) => length)).toEqual([2, 2]);

    await charge(await counter(), 9);
    expect(await waiting('webhook')).toHaveLength(3);
  });

  it('reach the webhook once, signed, whoever tries at the same moment', async () => {
    await charge(await counter(), 9);
    const [id = ''] = await waiting('webhook');
    const sender = alerts();

    const outcomes = await Promise.all(Array.from({ length: 6 }, () => sender.send(id)));

    expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
    expect(await sender.send(id)).toBe('void');
    expect(heard).toHaveLength(1);
    const { signature = '', body } = heard[0] as Heard;
    const [, seconds, digest] = /^t=(\d+),v1=(\w+)$/.exec(signature) ?? [];
    expect(digest).toBe(createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex'));
    expect(JSON.parse(body) as Alert).toMatchObject({
      id,
      type: 'budget.threshold',
      organisation_id: app.first.organisation_id,
      limit_id: limitId,
      subject: 'the API key "checkout"',
      measure: 'cost',
      spent: 9,
      credit_limit: 10,
    });
  });

  it('are tried again when the webhook does not take them', async () => {
    await charge(await counter(), 9);
    const [id = ''] = await waiting('webhook');
    statuses = [500];

    await expect(alerts().send(id)).rejects.toThrow('500');
    expect(await waiting('webhook')).toEqual([id]);
    expect(await alerts().send(id)).toBe('sent');
    expect(heard.map(({ body }) => (JSON.parse(body) as Alert).id)).toEqual([id, id]);
  });

  it('reach owners and the addresses of the key by mail, and no one where mail is not configured', async () => {
    const key = await counter();
    await charge(key, 9);
    await charge(key, 2);
    const [first = '', second = ''] = await waiting('mail');

    expect(await alerts().send(first)).toBe('sent');
    expect(await alerts(null).send(second)).toBe('void');

    expect(mailServer.mails).toHaveLength(1);
    expect(mailServer.mails[0]?.to.length).toBeGreaterThan(1);
    expect(mailServer.mails[0]?.to.join()).toContain('finance@example.com');
    expect(mailServer.mails[0]?.text).toContain('the API key "checkout"');
    expect(mailServer.mails[0]?.text).toContain('$9.00 of $10.00');
    expect(await waiting('mail')).toEqual([]);
  });

  it('never show the secret, and send nothing where there is no webhook', async () => {
    const shown = (await app.call('GET', ORGANIZATION)).body;
    expect(shown).toMatchObject({ has_alert_webhook_secret: true });
    const audited = JSON.stringify(await app.audited());
    const rows = JSON.stringify(await app.dataSource.query('SELECT * FROM organizations'));
    for (const text of [JSON.stringify(shown), audited, rows]) expect(text).not.toContain(SECRET);
    const before = await app.call('PUT', ORGANIZATION, { body: { alert_webhook_url: 'ftp://x' } });
    expect(before.status).toBe(400);
    const closed = await app.call('PUT', ORGANIZATION, {
      body: { alert_webhook_url: 'https://10.0.0.1/budgets' },
    });
    expect([closed.status, closed.body.error.code]).toEqual([403, 'custom_host_blocked']);
    expect(closed.body.error.message).toContain('GATEHOUSE_EGRESS_ALLOW');

    await app.call('PUT', ORGANIZATION, { body: { alert_webhook_url: null } });
    await charge(await counter(), 9);
    const [id = ''] = await waiting('webhook');

    expect(await alerts().send(id)).toBe('void');
    expect(heard).toEqual([]);
  });
});
