import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { Secret } from '../crypto/secret.js';
import { type EgressRule, parseEgressAllow } from '../egress/egress-allow.js';
import { isAddressRange } from '../http/client-address.js';

/**
 * Every setting of the process, read from the environment in this one place.
 *
 * A row has its rule, its default and its meaning (the description is what
 * `docs/settings.md` shows). A secret may also be given as NAME_FILE.
 */
const whole = (fallback: number, minimum: number, description: string) =>
  z.coerce.number().int().min(minimum).default(fallback).describe(description);

const MIB = 1024 * 1024;
const MINUTE = 60_000;

export const settingsSchema = z.object({
  GATEHOUSE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. 0.0.0.0 opens it to the network.'),
  GATEHOUSE_PORT: z.coerce.number().int().min(0).max(65535).default(8787).describe('Port to listen on.'),
  GATEHOUSE_PUBLIC_URL: z
    .url()
    .optional()
    .describe('Address that clients use, when a proxy or balancer stands in front.'),
  GATEHOUSE_DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder for the embedded database, the spool and the generated secrets.'),
  GATEHOUSE_ROLE: z
    .enum(['all', 'api', 'worker'])
    .default('all')
    .describe('What this instance does: serve (api), aggregate (worker) or both (all).'),
  GATEHOUSE_PROCESSES: whole(availableParallelism(), 1, 'Gateway processes. Default: one per core.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('PostgreSQL 14 or newer. Default: an embedded one in the data folder.'),
  DATABASE_POOL_SIZE: whole(8, 2, 'Database connections per process at most.'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('Redis or Valkey for queue and change bus. Default: PostgreSQL does both.'),
  GATEHOUSE_MASTER_KEY: z
    .string()
    .optional()
    .describe('Seals stored credentials: 32 bytes in base64. Default: generated into the data folder.'),
  GATEHOUSE_KEY_PEPPER: z
    .string()
    .optional()
    .describe('Keys the hashes of API keys: 32 bytes in base64. Default: generated into the data folder.'),
  GATEHOUSE_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe(
      'Mail server for invites: smtp://user:password@host:587 or smtps://…:465. Default: no mail is sent; the inviter gets the link.',
    ),
  GATEHOUSE_MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, 'must be an address, or a name with an address in <>')
    .optional()
    .describe('Sender of mails: "Gatehouse <gatehouse@example.com>". Needed with GATEHOUSE_SMTP_URL.'),
  GATEHOUSE_METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Bearer token for /metrics from other machines. Without it, /metrics answers this machine only.',
    ),
  GATEHOUSE_EGRESS_ALLOW: z
    .string()
    .default('')
    .describe(
      'Private addresses that providers may have: host-or-CIDR:port, comma-separated, port * allowed.',
    ),
  GATEHOUSE_UPSTREAM_CONNECTIONS: whole(
    4_096,
    1,
    'Connections of a process to one origin for one organization at most; further requests wait.',
  ),
  GATEHOUSE_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe('Proxies whose X-Forwarded-For is believed: addresses or CIDRs, comma-separated.'),
  GATEHOUSE_ADMIN_SOCKET: z
    .string()
    .optional()
    .describe(
      'Path of the socket between the gateway processes and the administration. Default: in the data folder.',
    ),
  GATEHOUSE_CONNECT_TIMEOUT_MS: whole(5_000, 1, 'Per attempt: until the connection to the provider stands.'),
  GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: whole(
    5 * MINUTE,
    1,
    'Per attempt: from the request to the first byte of the answer.',
  ),
  GATEHOUSE_IDLE_TIMEOUT_MS: whole(2 * MINUTE, 1, 'Per attempt: between two chunks of the answer.'),
  GATEHOUSE_TOTAL_TIMEOUT_MS: whole(30 * MINUTE, 1, 'Per attempt: until the last byte of the answer.'),
  GATEHOUSE_BODY_LIMIT_BYTES: whole(32 * MIB, 1024, 'Largest request body of an endpoint that is parsed.'),
  GATEHOUSE_LOG_BODIES: z
    .enum(['full', 'off'])
    .default('full')
    .describe('Whether request and response bodies are kept in the log.'),
  GATEHOUSE_STALE_KEYS_MS: whole(
    24 * 60 * MINUTE,
    0,
    'How long known keys keep working while the database is away.',
  ),
  GATEHOUSE_DRAIN_DELAY_MS: whole(3_000, 0, 'After SIGTERM: how long to go on serving with readiness 503.'),
  GATEHOUSE_DRAIN_TIMEOUT_MS: whole(
    2 * MINUTE,
    0,
    'After SIGTERM: how long running streams may take to finish.',
  ),
  GATEHOUSE_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe("Level of the process's own log lines."),
});

type Raw = z.infer<typeof settingsSchema>;

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly role: Raw['GATEHOUSE_ROLE'];
  readonly processes: number;
  readonly databaseUrl: Secret | undefined;
  readonly databasePoolSize: number;
  readonly redisUrl: Secret | undefined;
  readonly masterKey: Secret | undefined;
  readonly keyPepper: Secret | undefined;
  readonly metricsToken: Secret | undefined;
  /** Null where no mails can be sent. */
  readonly mail: MailSettings | null;
  readonly egressAllow: readonly EgressRule[];
  readonly upstreamConnections: number;
  readonly trustedProxies: readonly string[];
  readonly adminSocket: string | undefined;
  readonly timeouts: UpstreamTimeouts;
  readonly bodyLimitBytes: number;
  readonly logBodies: Raw['GATEHOUSE_LOG_BODIES'];
  readonly staleKeysMs: number;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: Raw['GATEHOUSE_LOG_LEVEL'];
}

export interface MailSettings {
  readonly smtpUrl: Secret;
  readonly from: string;
}

/** Bounds of one attempt, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

const SECRETS = [
  'DATABASE_URL',
  'REDIS_URL',
  'GATEHOUSE_MASTER_KEY',
  'GATEHOUSE_KEY_PEPPER',
  'GATEHOUSE_METRICS_TOKEN',
  'GATEHOUSE_SMTP_URL',
] as const satisfies readonly (keyof Raw)[];

/** Wrong settings, all of them at once. Names the variables, never their values. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of this process. Throws `SettingsError` with all that is wrong. */
export function settingsOfProcess(): Settings {
  return loadSettings(process.env);
}

export function loadSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const given = withoutEmpty({ ...environment, ...secretsFromFiles(environment, problems) });
  const known = new Set(Object.keys(settingsSchema.shape).flatMap((name) => [name, `${name}_FILE`]));
  for (const name of Object.keys(given))
    if (name.startsWith('GATEHOUSE_') && !known.has(name))
      problems.push(`${name}: there is no such setting.`);

  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success)
    for (const issue of parsed.error.issues) problems.push(`${issue.path.join('.')}: ${issue.message}.`);
  if (parsed.success)
    problems.push(
      ...badKeys(parsed.data),
      ...badEgressRules(parsed.data),
      ...badProxies(parsed.data),
      ...badMail(parsed.data),
    );
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems);
  return toSettings(parsed.data);
}

function secretsFromFiles(environment: Environment, problems: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of SECRETS) {
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

function withoutEmpty(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

const KEY_BYTES = 32;

function badKeys(raw: Raw): string[] {
  return (['GATEHOUSE_MASTER_KEY', 'GATEHOUSE_KEY_PEPPER'] as const)
    .filter((name) => raw[name] !== undefined && !isStrongKey(raw[name]))
    .map(
      (name) => `${name}: must be ${KEY_BYTES} random bytes in base64; "openssl rand -base64 32" makes one.`,
    );
}

/** Refuses short keys and those that repeat one byte, as samples and placeholders do. */
function isStrongKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES && new Set(bytes).size > 8;
}

function badEgressRules(raw: Raw): string[] {
  return parseEgressAllow(raw.GATEHOUSE_EGRESS_ALLOW).problems.map(
    (problem) => `GATEHOUSE_EGRESS_ALLOW: ${problem}`,
  );
}

function trustedProxies(raw: Raw): string[] {
  return raw.GATEHOUSE_TRUSTED_PROXIES.split(',')
    .map((range) => range.trim())
    .filter(Boolean);
}

function badProxies(raw: Raw): string[] {
  return trustedProxies(raw)
    .filter((range) => !isAddressRange(range))
    .map((range) => `GATEHOUSE_TRUSTED_PROXIES: "${range}" is neither an address nor a CIDR.`);
}

/** A mail needs a sender, and its link an address that is set: whatever a request says of the host may be a trap. */
function badMail(raw: Raw): string[] {
  if (raw.GATEHOUSE_SMTP_URL === undefined) return [];
  return (['GATEHOUSE_MAIL_FROM', 'GATEHOUSE_PUBLIC_URL'] as const)
    .filter((name) => raw[name] === undefined)
    .map((name) => `${name}: GATEHOUSE_SMTP_URL needs it.`);
}

function mailOf({ GATEHOUSE_SMTP_URL: url, GATEHOUSE_MAIL_FROM: from }: Raw): MailSettings | null {
  return url === undefined || from === undefined ? null : { smtpUrl: new Secret(url), from };
}

function toSettings(raw: Raw): Settings {
  const secret = (value: string | undefined) => (value === undefined ? undefined : new Secret(value));
  return {
    host: raw.GATEHOUSE_HOST,
    port: raw.GATEHOUSE_PORT,
    publicUrl: raw.GATEHOUSE_PUBLIC_URL,
    dataDir: resolve(raw.GATEHOUSE_DATA_DIR),
    role: raw.GATEHOUSE_ROLE,
    processes: raw.GATEHOUSE_PROCESSES,
    databaseUrl: secret(raw.DATABASE_URL),
    databasePoolSize: raw.DATABASE_POOL_SIZE,
    redisUrl: secret(raw.REDIS_URL),
    masterKey: secret(raw.GATEHOUSE_MASTER_KEY),
    keyPepper: secret(raw.GATEHOUSE_KEY_PEPPER),
    metricsToken: secret(raw.GATEHOUSE_METRICS_TOKEN),
    mail: mailOf(raw),
    egressAllow: parseEgressAllow(raw.GATEHOUSE_EGRESS_ALLOW).rules,
    upstreamConnections: raw.GATEHOUSE_UPSTREAM_CONNECTIONS,
    trustedProxies: trustedProxies(raw),
    adminSocket: raw.GATEHOUSE_ADMIN_SOCKET,
    timeouts: {
      connectMs: raw.GATEHOUSE_CONNECT_TIMEOUT_MS,
      firstByteMs: raw.GATEHOUSE_FIRST_BYTE_TIMEOUT_MS,
      idleMs: raw.GATEHOUSE_IDLE_TIMEOUT_MS,
      totalMs: raw.GATEHOUSE_TOTAL_TIMEOUT_MS,
    },
    bodyLimitBytes: raw.GATEHOUSE_BODY_LIMIT_BYTES,
    logBodies: raw.GATEHOUSE_LOG_BODIES,
    staleKeysMs: raw.GATEHOUSE_STALE_KEYS_MS,
    drainDelayMs: raw.GATEHOUSE_DRAIN_DELAY_MS,
    drainTimeoutMs: raw.GATEHOUSE_DRAIN_TIMEOUT_MS,
    logLevel: raw.GATEHOUSE_LOG_LEVEL,
  };
}
