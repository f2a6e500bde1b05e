import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InviteTokens } from '../../../src/common/crypto/invite-tokens.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { SettingsModule } from '../../../src/common/settings/settings.module.js';
import { loadSettings, type Settings } from '../../../src/common/settings/settings.js';
import { InviteMails } from '../../../src/jobs/mails/invite-mails.js';
import { Mailer } from '../../../src/jobs/mails/mailer.js';
import { MailsModule } from '../../../src/jobs/mails/mails.module.js';
import { AdminApp } from '../../support/admin-app.js';
import { MailServer } from '../../support/upstreams/smtp.js';
import { eventually, sleep } from '../../support/waiting.js';

const INVITES = '/v1/admin/users/invites';
const PUBLIC_URL = 'https://gate.example.com';
const FROM = 'Gatehouse <gate@example.com>';

describe('mails with invites', () => {
  let server: MailServer;
  let app: AdminApp;
  const running: INestApplicationContext[] = [];

  beforeAll(async () => {
    server = await MailServer.start();
    app = await AdminApp.start({
      GATEHOUSE_SMTP_URL: server.url,
      GATEHOUSE_MAIL_FROM: FROM,
      GATEHOUSE_PUBLIC_URL: PUBLIC_URL,
    });
  });
  afterAll(async () => {
    await app.close();
    await server.stop();
  });
  beforeEach(async () => {
    server.mails.length = 0;
    server.refusals.length = 0;
    await app.dataSource.query('DELETE FROM mails');
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
  });

  const mails = (pepper = app.settings.keyPepper as Secret) =>
    new InviteMails(
      app.dataSource,
      new Mailer({ smtpUrl: new Secret(server.url), from: FROM }),
      new InviteTokens(pepper),
      PUBLIC_URL,
    );

  const invite = async () => {
    const email = `m-${randomBytes(6).toString('hex')}@example.com`;
    const { body } = await app.call('POST', INVITES, { body: { email, role: 'member', workspaces: [] } });
    const [{ id: mailId }] = await app.dataSource.query('SELECT id FROM mails WHERE invite_id = $1', [
      body.id,
    ]);
    return { id: body.id as string, email, mailId: mailId as string, link: body.invite_link as unknown };
  };

  const accept = async (token: string) =>
    (
      await app.call('POST', '/v1/admin/invites/accept', {
        key: '',
        body: { token, first_name: 'Ada', last_name: 'L' },
      })
    ).status;

  const startWorker = async () => {
    const settings = loadSettings({
      DATABASE_URL: app.url,
      GATEHOUSE_KEY_PEPPER: app.settings.keyPepper?.reveal(),
      GATEHOUSE_SMTP_URL: server.url,
      GATEHOUSE_MAIL_FROM: FROM,
      GATEHOUSE_PUBLIC_URL: PUBLIC_URL,
    });
    const dataSource = await createDataSource(app.url, 2, 'background').initialize();
    const module = await Test.createTestingModule({ imports: workerOf(settings, dataSource) }).compile();
    module.useLogger(false);
    running.push(await module.init());
  };
  const workerOf = (settings: Settings, dataSource: DataSource) => [
    SettingsModule.forRoot(settings),
    DatabaseModule.forRoot(dataSource),
    ...(settings.mail ? [MailsModule.register(settings.mail, settings)] : []),
  ];

  it('bring the link to the invited user, and show it to no one else', async () => {
    const { email, mailId, link, id } = await invite();
    expect(link).toBeNull();

    expect(await mails().send(mailId)).toBe('sent');

    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'gate@example.com', to: [email] });
    expect(mail?.text).toContain(`${PUBLIC_URL}/invites/accept#gw_invite_`);
    const token = mail ? server.tokenIn(mail) : '';
    const stored = JSON.stringify([
      await app.dataSource.query('SELECT * FROM mails'),
      await app.dataSource.query('SELECT * FROM invites'),
      (await app.call('GET', `${INVITES}/${id}`)).body,
    ]);
    expect(stored).not.toContain(token.slice(-43));
    expect(await accept(token)).toBe(200);
  });

  it('are not sent twice, whoever tries at the same moment', async () => {
    const { mailId } = await invite();
    const sender = mails();

    const outcomes = await Promise.all(Array.from({ length: 6 }, () => sender.send(mailId)));

    expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
    expect(await sender.send(mailId)).toBe('void');
    expect(server.mails).toHaveLength(1);
  });

  it('are retried when the server refuses, and reveal nothing of its reply', async () => {
    const { mailId } = await invite();
    server.refusals.push(
      '451 come back: your link is https://gate.example.com/invites/accept#gw_invite_echo',
    );

    const failure = await mails()
      .send(mailId)
      .catch((error: unknown) => error);

    expect(String(failure)).toContain('451');
    expect(JSON.stringify([String(failure), (failure as Error).stack])).not.toContain('gw_invite_');
    expect(await mails().send(mailId)).toBe('sent');
  });

  it('are not sent for an invite that was cancelled meanwhile', async () => {
    const { mailId, id } = await invite();
    await app.call('DELETE', `${INVITES}/${id}`);

    expect(await mails().send(mailId)).toBe('void');
    expect(server.mails).toEqual([]);
    expect(await app.dataSource.query('SELECT id FROM mails WHERE id = $1', [mailId])).toEqual([]);
  });

  it('of an invite that is sent again void the link of the first', async () => {
    const { mailId, id } = await invite();
    await mails().send(mailId);
    const again = await app.call('POST', `${INVITES}/${id}/resend`);
    expect(again.body).toEqual({ inviteLink: null });
    const [first] = server.mails;
    expect(first && (await accept(server.tokenIn(first)))).toBe(404);

    const [{ id: second }] = await app.dataSource.query(
      'SELECT id FROM mails WHERE invite_id = $1 AND sent_at IS NULL',
      [id],
    );
    await mails().send(second);

    expect(server.mails).toHaveLength(2);
    const last = server.mails.at(-1);
    expect(last && (await accept(server.tokenIn(last)))).toBe(200);
  });

  it('that a killed process held are sent when its lease has expired', async () => {
    const { mailId } = await invite();
    const leased = (until: string) =>
      app.dataSource.query('UPDATE mails SET leased_until = now() + $2::interval WHERE id = $1', [
        mailId,
        until,
      ]);

    await leased('1 hour');
    expect(await mails().send(mailId)).toBe('void');
    await leased('-1 s');
    expect(await mails().send(mailId)).toBe('sent');
  });

  it('are found and sent by the background process, also what the server refused at first', async () => {
    await startWorker();
    server.refusals.push('451 later');
    const [one, two] = [await invite(), await invite()];

    await eventually(() => Promise.resolve(server.mails.length === 2), {
      everyMs: 100,
      what: 'both mails',
    });
    await sleep(2_500);
    expect(server.mails.flatMap(({ to }) => to).sort()).toEqual([one.email, two.email].sort());
  });

  it('are dropped when the change behind them is undone', async () => {
    const before = await app.dataSource.query('SELECT count(*)::int AS n FROM mails');
    await app.dataSource.query('ALTER TABLE audit_heads RENAME TO audit_heads_away');
    try {
      const body = { email: 'undone@example.com', role: 'member', workspaces: [] };
      expect((await app.call('POST', INVITES, { body })).status).toBe(503);
    } finally {
      await app.dataSource.query('ALTER TABLE audit_heads_away RENAME TO audit_heads');
    }
    expect(await app.dataSource.query('SELECT count(*)::int AS n FROM mails')).toEqual(before);
  });
});
