import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { Secret } from './secret.js';
import { type EgressRule, parseEgressAllow } from '../net/egress-allow.js';
import { normalizeEmail } from '../http/normal-email.js';
import { readBySchema } from '../json/read-by-schema.js';
import { listIn } from '../text/list-in.js';
import { didYouMean } from '../text/nearest-names.js';
import { type ExternalCredentialSettings, externalCredentialsOf } from './external-credential-settings.js';
import { lowerCaseProxies, proxiesOf, type ProxySettings } from './proxy-settings.js';
import type { TelemetrySettings } from './otel-settings.js';
import { settingsSchema } from './settings-schema.js';
import { problemsBetween } from './settings-problems.js';
import { type ListenerSettings, listenerOf } from './tls-settings.js';
import { destinationsOf, type S3Settings, type SinkSettings } from './sink-settings.js';

type RawSettings = z.infer<typeof settingsSchema>;

export interface Settings extends ListenerSettings {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly role: RawSettings['GATEHOUSE_ROLE'];
  readonly processes: number;
  readonly databaseUrl: Secret | undefined;
  readonly databasePoolSize: number;
  readonly redisUrl: Secret | undefined;
  /** Null when PostgreSQL counts. */
  readonly clickhouse: ClickHouseSettings | null;
  readonly masterKey: Secret | undefined;
  /** The key that is replacing it, during a rotation. Both can open. */
  readonly nextMasterKey: Secret | undefined;
  readonly keyPepper: Secret | undefined;
  readonly metricsToken: Secret | undefined;
  /** The first owner created by the first start; null when the set-up link determines it. */
  readonly initOwner: { readonly email: string; readonly password: Secret } | null;
  readonly sessions: SessionSettings;
  /** Null when mail is not configured. */
  readonly mail: MailSettings | null;
  readonly egressAllow: readonly EgressRule[];
  readonly proxies: ProxySettings;
  readonly externalCredentials: ExternalCredentialSettings;
  readonly upstreamConnections: number;
  readonly trustedProxies: readonly string[];
  readonly adminSocket: string | undefined;
  readonly timeouts: UpstreamTimeouts;
  /** Requests in plain HTTP/1.1 syntax are read by our own parser. */
  readonly hasFastPath: boolean;
  readonly httpClient: RawSettings['GATEHOUSE_HTTP_CLIENT'];
  readonly bodyLimitBytes: number;
  readonly outputTokensCeiling: number;
  readonly cacheMemoryBytes: number;
  readonly cacheStoreBytes: number;
  readonly logBodies: RawSettings['GATEHOUSE_LOG_BODIES'];
  /** Days after which PostgreSQL no longer keeps bodies that ClickHouse has; null: as long as their retention says. */
  readonly postgresBodyDays: number | null;
  readonly bodySearch: boolean;
  readonly inboxLimitBytes: number;
  readonly retentionDays: RetentionDays;
  readonly exports: ExportSettings;
  /** Prices that override the built-in ones; null for none. */
  readonly pricesFile: string | null;
  /** Null without a bucket. */
  readonly s3: S3Settings | null;
  readonly sinks: SinkSettings;
  readonly telemetry: TelemetrySettings;
  readonly analyticsMetadataKeys: readonly string[];
  /** Request rows that a response reads directly; more are counted in the background. */
  readonly analyticsDirectRows: number;
  readonly staleKeysMs: number;
  /** Time for a complete request to arrive, milliseconds. */
  readonly requestTimeoutMs: number;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly drainSpoolMs: number;
  readonly logLevel: RawSettings['GATEHOUSE_LOG_LEVEL'];
  readonly accessLog: RawSettings['GATEHOUSE_ACCESS_LOG'];
  readonly slowRequestMs: number;
}

/** Retention in days; 0 means without limit. */
export interface RetentionDays {
  readonly logs: number;
  readonly bodies: number;
  readonly minutes: number;
}

export interface ClickHouseSettings {
  readonly url: Secret;
  readonly cluster: string | undefined;
}

export interface ExportSettings {
  readonly folder: string;
  readonly retentionDays: number;
  readonly limitBytes: number;
  readonly store: RawSettings['GATEHOUSE_EXPORT_STORE'];
}

/** When a dashboard session ends, in milliseconds. */
export interface SessionSettings {
  /** Since the last request. */
  readonly idleMs: number;
  /** Since the sign-in. */
  readonly lifetimeMs: number;
}

export interface MailSettings {
  readonly smtpUrl: Secret;
  readonly from: string;
}

/** Time limits of one attempt, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

/** Settings that hold a secret. Each can also be given as `NAME_FILE`. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
  'CLICKHOUSE_URL',
  'GATEHOUSE_MASTER_KEY',
  'GATEHOUSE_NEXT_MASTER_KEY',
  'GATEHOUSE_KEY_PEPPER',
  'GATEHOUSE_INIT_OWNER_PASSWORD',
  'GATEHOUSE_METRICS_TOKEN',
  'GATEHOUSE_SMTP_URL',
  'GATEHOUSE_TLS_KEY_PASSPHRASE',
  'GATEHOUSE_S3_SECRET_ACCESS_KEY',
  'GATEHOUSE_SINK_WEBHOOK_SECRET',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'IDENTITY_HEADER',
] as const satisfies readonly (keyof RawSettings)[];

/** Invalid settings, all of them at once. Names the variables, never their values. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

type SettingsEnvironment = Readonly<Record<string, string | undefined>>;

/** The settings of this process. Throws `SettingsError` with all errors. */
export function settingsOfProcess(): Settings {
  return loadSettings(process.env);
}

export function loadSettings(environment: SettingsEnvironment): Settings {
  const problems: string[] = [];
  const given = withoutEmpty({
    ...environment,
    ...lowerCaseProxies(environment),
    ...secretsFromFiles(environment, problems),
  });
  const known = new Set(Object.keys(settingsSchema.shape).flatMap((name) => [name, `${name}_FILE`]));
  for (const name of Object.keys(given))
    if (name.startsWith('GATEHOUSE_') && !known.has(name))
      problems.push(`${name}: there is no such setting${didYouMean(name, known)}.`);

  const { data, mistakes = [] } = readBySchema(settingsSchema, given);
  for (const { path, rule } of mistakes) problems.push(`${path.join('.')}: ${rule}.`);
  const wrong = new Set(mistakes.map(({ path }) => String(path[0])));
  problems.push(...problemsBetween(given, wrong));
  if (data === undefined || problems.length > 0) throw new SettingsError(problems);
  return toSettings(data);
}

function secretsFromFiles(environment: SettingsEnvironment, problems: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of SECRET_SETTINGS) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (environment[name]) problems.push(`${name}: given twice, as ${name} and as ${name}_FILE.`);
    try {
      found[name] = readFileSync(file, 'utf8').trim();
    } catch {
      problems.push(`${name}_FILE: the file cannot be read.`);
    }
  }
  return found;
}

function withoutEmpty(environment: SettingsEnvironment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

function initOwnerOf(raw: RawSettings): Settings['initOwner'] {
  const { GATEHOUSE_INIT_OWNER_EMAIL: email, GATEHOUSE_INIT_OWNER_PASSWORD: password } = raw;
  const normal = email === undefined ? null : normalizeEmail(email);
  return normal === null || password === undefined ? null : { email: normal, password: new Secret(password) };
}

function clickhouseOf({
  CLICKHOUSE_URL: url,
  CLICKHOUSE_CLUSTER: cluster,
}: RawSettings): ClickHouseSettings | null {
  return url === undefined ? null : { url: new Secret(url), cluster };
}

function mailOf({ GATEHOUSE_SMTP_URL: url, GATEHOUSE_MAIL_FROM: from }: RawSettings): MailSettings | null {
  return url === undefined || from === undefined ? null : { smtpUrl: new Secret(url), from };
}

const retentionDaysOf = (raw: RawSettings): RetentionDays => ({
  logs: raw.GATEHOUSE_LOG_RETENTION_DAYS,
  bodies: raw.GATEHOUSE_BODY_RETENTION_DAYS,
  minutes: raw.GATEHOUSE_MINUTE_RETENTION_DAYS,
});

const timeoutsOf = (raw: RawSettings): UpstreamTimeouts => ({
  connectMs: raw.GATEHOUSE_CONNECT_TIMEOUT_MS,
  firstByteMs: raw.GATEHOUSE_FIRST_BYTE_TIMEOUT_MS,
  idleMs: raw.GATEHOUSE_IDLE_TIMEOUT_MS,
  totalMs: raw.GATEHOUSE_TOTAL_TIMEOUT_MS,
});

const logOf = (raw: RawSettings): Pick<Settings, 'logLevel' | 'accessLog' | 'slowRequestMs'> => ({
  logLevel: raw.GATEHOUSE_LOG_LEVEL,
  accessLog: raw.GATEHOUSE_ACCESS_LOG,
  slowRequestMs: raw.GATEHOUSE_SLOW_REQUEST_MS,
});

const httpOf = (raw: RawSettings): Pick<Settings, 'hasFastPath' | 'httpClient' | 'proxies'> => ({
  proxies: proxiesOf(raw),
  hasFastPath: raw.GATEHOUSE_HTTP_FAST_PATH === 'on',
  httpClient: raw.GATEHOUSE_HTTP_CLIENT,
});

const exportsOf = (raw: RawSettings): ExportSettings => ({
  folder: resolve(raw.GATEHOUSE_EXPORT_DIR ?? join(raw.GATEHOUSE_DATA_DIR, 'exports')),
  retentionDays: raw.GATEHOUSE_EXPORT_RETENTION_DAYS,
  limitBytes: raw.GATEHOUSE_EXPORT_LIMIT_BYTES,
  store: raw.GATEHOUSE_EXPORT_STORE,
});

function toSettings(raw: RawSettings): Settings {
  const secret = (value: string | undefined) => (value === undefined ? undefined : new Secret(value));
  return {
    host: raw.GATEHOUSE_HOST,
    port: raw.GATEHOUSE_PORT,
    publicUrl: raw.GATEHOUSE_PUBLIC_URL,
    ...listenerOf(raw),
    dataDir: resolve(raw.GATEHOUSE_DATA_DIR),
    role: raw.GATEHOUSE_ROLE,
    processes: raw.GATEHOUSE_PROCESSES,
    databaseUrl: secret(raw.DATABASE_URL),
    databasePoolSize: raw.DATABASE_POOL_SIZE,
    redisUrl: secret(raw.REDIS_URL),
    clickhouse: clickhouseOf(raw),
    masterKey: secret(raw.GATEHOUSE_MASTER_KEY),
    nextMasterKey: secret(raw.GATEHOUSE_NEXT_MASTER_KEY),
    keyPepper: secret(raw.GATEHOUSE_KEY_PEPPER),
    metricsToken: secret(raw.GATEHOUSE_METRICS_TOKEN),
    initOwner: initOwnerOf(raw),
    sessions: { idleMs: raw.GATEHOUSE_SESSION_IDLE_MS, lifetimeMs: raw.GATEHOUSE_SESSION_LIFETIME_MS },
    mail: mailOf(raw),
    egressAllow: parseEgressAllow(raw.GATEHOUSE_EGRESS_ALLOW).rules,
    externalCredentials: externalCredentialsOf(raw),
    upstreamConnections: raw.GATEHOUSE_UPSTREAM_CONNECTIONS,
    trustedProxies: listIn(raw.GATEHOUSE_TRUSTED_PROXIES),
    adminSocket: raw.GATEHOUSE_ADMIN_SOCKET,
    timeouts: timeoutsOf(raw),
    ...httpOf(raw),
    bodyLimitBytes: raw.GATEHOUSE_BODY_LIMIT_BYTES,
    outputTokensCeiling: raw.GATEHOUSE_OUTPUT_TOKENS_CEILING,
    cacheMemoryBytes: raw.GATEHOUSE_CACHE_MEMORY_BYTES,
    cacheStoreBytes: raw.GATEHOUSE_CACHE_STORE_BYTES,
    logBodies: raw.GATEHOUSE_LOG_BODIES,
    postgresBodyDays: raw.GATEHOUSE_POSTGRES_BODY_DAYS ?? null,
    bodySearch: raw.GATEHOUSE_BODY_SEARCH === 'on',
    inboxLimitBytes: raw.GATEHOUSE_INBOX_LIMIT_BYTES,
    retentionDays: retentionDaysOf(raw),
    pricesFile: raw.GATEHOUSE_PRICES_FILE === undefined ? null : resolve(raw.GATEHOUSE_PRICES_FILE),
    exports: exportsOf(raw),
    ...destinationsOf(raw),
    analyticsMetadataKeys: listIn(raw.GATEHOUSE_ANALYTICS_METADATA_KEYS),
    analyticsDirectRows: raw.GATEHOUSE_ANALYTICS_DIRECT_ROWS,
    staleKeysMs: raw.GATEHOUSE_STALE_KEYS_MS,
    requestTimeoutMs: raw.GATEHOUSE_REQUEST_TIMEOUT_MS,
    drainDelayMs: raw.GATEHOUSE_DRAIN_DELAY_MS,
    drainTimeoutMs: raw.GATEHOUSE_DRAIN_TIMEOUT_MS,
    drainSpoolMs: raw.GATEHOUSE_DRAIN_SPOOL_MS,
    ...logOf(raw),
  };
}
