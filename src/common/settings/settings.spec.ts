import { describe, expect, it } from 'vitest';
import { settingsSchema } from './settings-schema.js';
import { loadSettings, SECRET_SETTINGS, SettingsError } from './settings.js';

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('wrong settings', () => {
  it('are reported together, whatever kind of mistake each is', () => {
    const problems = problemsOf({
      GATEHOUSE_PROCESES: '3',
      GATEHOUSE_PORT: 'abc',
      DATABASE_URL: 'mysql://host/name',
      GATEHOUSE_MASTER_KEY: 'short',
      GATEHOUSE_EGRESS_ALLOW: '127.0.0.1',
      GATEHOUSE_TRUSTED_PROXIES: 'here',
      GATEHOUSE_SMTP_URL: 'smtp://mail.example.com',
      GATEHOUSE_SINK_S3: 'on',
    });

    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'GATEHOUSE_PROCESES',
      'GATEHOUSE_PORT',
      'DATABASE_URL',
      'GATEHOUSE_MASTER_KEY',
      'GATEHOUSE_EGRESS_ALLOW',
      'GATEHOUSE_TRUSTED_PROXIES',
      'GATEHOUSE_MAIL_FROM',
      'GATEHOUSE_PUBLIC_URL',
      'GATEHOUSE_S3_BUCKET',
      'GATEHOUSE_S3_ACCESS_KEY_ID',
      'GATEHOUSE_S3_SECRET_ACCESS_KEY',
    ]);
    expect(problems).toContain('GATEHOUSE_PORT: it must be a number.');
    expect(problems).toContain('DATABASE_URL: it must be postgres://user:password@host:port/database.');
  });

  it('are refused with an unknown unit of time', () => {
    expect(problemsOf({ GATEHOUSE_IDLE_TIMEOUT_MS: '5 weeks', GATEHOUSE_DRAIN_DELAY_MS: '-1s' })).toEqual([
      'GATEHOUSE_IDLE_TIMEOUT_MS: it must be milliseconds, or a number with ms, s, m, h or d, such as 15m.',
      'GATEHOUSE_DRAIN_DELAY_MS: it must be milliseconds, or a number with ms, s, m, h or d, such as 15m.',
    ]);
  });

  it('are refused where PostgreSQL could drop bodies that no other store has', () => {
    const days = { GATEHOUSE_POSTGRES_BODY_DAYS: '0' };
    const clickhouse = { ...days, CLICKHOUSE_URL: 'http://clickhouse:8123/gatehouse' };

    expect(problemsOf(days)).toEqual(['GATEHOUSE_POSTGRES_BODY_DAYS: is set without CLICKHOUSE_URL.']);
    expect(problemsOf({ ...clickhouse, GATEHOUSE_LOG_BODIES: 'off' })).toEqual([
      'GATEHOUSE_POSTGRES_BODY_DAYS: needs GATEHOUSE_LOG_BODIES=full.',
    ]);
    expect(loadSettings(clickhouse).postgresBodyDays).toBe(0);
    expect(loadSettings({}).postgresBodyDays).toBeNull();
  });

  it('are reported once each: one that is set and wrong is not also called missing', () => {
    const mail = { GATEHOUSE_SMTP_URL: 'smtp://mail.example.com', GATEHOUSE_MAIL_FROM: 'a@example.com' };

    expect(problemsOf({ ...mail, GATEHOUSE_PUBLIC_URL: 'here' })).toEqual([
      'GATEHOUSE_PUBLIC_URL: it must be an address such as https://gateway.example.com.',
    ]);
  });

  it('are explained in our own words', () => {
    const wrong = {
      REDIS_URL: 'localhost:6379',
      CLICKHOUSE_URL: 'clickhouse://host',
      GATEHOUSE_SMTP_URL: 'mail.example.com',
      GATEHOUSE_SINK_WEBHOOK_URL: 'hooks.example.com',
      GATEHOUSE_PROCESSES: '1.5',
      GATEHOUSE_ROLE: 'both',
      GATEHOUSE_METRICS_TOKEN: 'short',
    };

    expect(problemsOf(wrong)).toEqual([
      'GATEHOUSE_ROLE: it must be all, api or worker.',
      'GATEHOUSE_PROCESSES: it must be a whole number.',
      'REDIS_URL: it must be redis://user:password@host:port, or rediss://… for TLS.',
      'CLICKHOUSE_URL: it must be https://user:password@host:8443/database.',
      'GATEHOUSE_SMTP_URL: it must be smtp://user:password@host:587 or smtps://…:465.',
      'GATEHOUSE_METRICS_TOKEN: it must have at least 16 characters.',
      'GATEHOUSE_SINK_WEBHOOK_URL: it must be an address such as https://host/path.',
    ]);
  });
});

describe('a duration', () => {
  it.each([
    ['1500', 1_500],
    ['900ms', 900],
    ['90s', 90_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
  ])('may be written as %s', (given, ms) => {
    expect(loadSettings({ GATEHOUSE_TOTAL_TIMEOUT_MS: given }).timeouts.totalMs).toBe(ms);
  });

  it('has its default when it is not set', () => {
    expect(loadSettings({}).timeouts.totalMs).toBe(1_800_000);
  });
});

/** Names that sound like a secret, and are a folder, a duration, a number, or public. */
const NO_SECRETS = [
  'GATEHOUSE_ANALYTICS_METADATA_KEYS',
  'GATEHOUSE_OUTPUT_TOKENS_CEILING',
  'GATEHOUSE_S3_ACCESS_KEY_ID',
  'GATEHOUSE_SECRETS_DIR',
  'GATEHOUSE_SECRET_TTL_MS',
  'GATEHOUSE_STALE_KEYS_MS',
];

describe('secret settings', () => {
  it('are listed, so that no file of the instance and no support bundle shows them', () => {
    const sensitive = Object.keys(settingsSchema.shape).filter(
      (name) => /SECRET|PASSWORD|PASSPHRASE|TOKEN|KEY|HEADER|PEPPER/.test(name) && !name.endsWith('_FILE'),
    );
    const listed: readonly string[] = SECRET_SETTINGS;
    expect(sensitive.filter((name) => !listed.includes(name)).sort()).toEqual(NO_SECRETS);
  });
});
