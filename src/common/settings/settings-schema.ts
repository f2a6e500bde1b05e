import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { normalizeEmail } from '../http/normal-email.js';
import { externalCredentialSettings } from './external-credential-settings.js';
import { proxySettings } from './proxy-settings.js';
import { otelSettings } from './otel-settings-schema.js';
import { sinkSettings } from './sink-settings-schema.js';
import { aNumber, duration, wholeNumberSetting, wholeOrNone } from './setting-rules.js';
import { tlsSettings } from './tls-settings.js';

const MIB = 1024 * 1024;
const MINUTE = 60_000;

/**
 * Every setting of the process, read from the environment only here.
 *
 * A row has its rule, its default and its meaning (the description in `docs/settings.md`). A secret can also be given as NAME_FILE.
 */
export const settingsSchema = z.object({
  GATEHOUSE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. 0.0.0.0 opens it to the network.'),
  GATEHOUSE_PORT: aNumber()
    .int()
    .min(0)
    .max(65535)
    .default(8787)
    .describe('Port to listen on. A worker serves its probes and metrics there.'),
  GATEHOUSE_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'it must be an address such as https://gateway.example.com' })
    .optional()
    .describe('Address that clients use, if a proxy or load balancer is in front.'),
  ...tlsSettings,
  GATEHOUSE_DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder for the embedded database, the spool and the generated secrets.'),
  GATEHOUSE_ROLE: z
    .enum(['all', 'api', 'worker'])
    .default('all')
    .describe('Role of this instance: api serves requests, worker runs background jobs, all does both.'),
  GATEHOUSE_PROCESSES: wholeNumberSetting(
    availableParallelism(),
    1,
    'Gateway processes. Default: one per core.',
  ),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'it must be postgres://user:password@host:port/database' })
    .optional()
    .describe('PostgreSQL 14 to 18. Default: an embedded PostgreSQL in the data folder.'),
  DATABASE_POOL_SIZE: wholeNumberSetting(8, 2, 'Maximum database connections per process.'),
  REDIS_URL: z
    .url({
      protocol: /^rediss?$/,
      error: 'it must be redis://user:password@host:port, or rediss://… for TLS',
    })
    .optional()
    .describe(
      'Redis or Valkey for queues, change notifications, rate limits and cached responses. Default: PostgreSQL for all of these.',
    ),
  CLICKHOUSE_URL: z
    .url({ protocol: /^https?$/, error: 'it must be https://user:password@host:8443/database' })
    .optional()
    .describe(
      'ClickHouse (tested with 26.7) for lists, counts and analytics: https://user:password@host:8443/database. Default: PostgreSQL.',
    ),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^\w+$/, 'must be the name of a cluster')
    .optional()
    .describe(
      'Cluster of CLICKHOUSE_URL on which tables are replicated and distributed. Default: one server.',
    ),
  GATEHOUSE_MASTER_KEY: z
    .string()
    .optional()
    .describe(
      'Encrypts stored credentials: 32 random bytes in base64. Default: generated into the data folder.',
    ),
  GATEHOUSE_NEXT_MASTER_KEY: z
    .string()
    .optional()
    .describe(
      'Next master key, during a rotation (docs/master-key.md): values encrypted with either key can be read.',
    ),
  GATEHOUSE_KEY_PEPPER: z
    .string()
    .optional()
    .describe(
      'Secret for the hashes of API keys: 32 random bytes in base64. Default: generated into the data folder.',
    ),
  GATEHOUSE_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'it must be smtp://user:password@host:587 or smtps://…:465' })
    .optional()
    .describe(
      'Mail server for invites: smtp://user:password@host:587 or smtps://…:465. Default: no mail is sent; the inviter gets the link.',
    ),
  GATEHOUSE_MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, 'must be an address, or a name with an address in <>')
    .optional()
    .describe('Sender of mails: "Gatehouse <gatehouse@example.com>". Needed with GATEHOUSE_SMTP_URL.'),
  GATEHOUSE_INIT_OWNER_EMAIL: z
    .string()
    .refine((text) => normalizeEmail(text) !== null, 'must be an e-mail address')
    .optional()
    .describe(
      'E-mail address of the first owner. Used at the first start only. Default: the set-up link lets the owner choose it.',
    ),
  GATEHOUSE_INIT_OWNER_PASSWORD: z
    .string()
    .optional()
    .describe('Password of the first owner. Needed with GATEHOUSE_INIT_OWNER_EMAIL.'),
  GATEHOUSE_SESSION_IDLE_MS: duration(12 * 60 * MINUTE, MINUTE, 'Idle timeout of a dashboard session.'),
  GATEHOUSE_SESSION_LIFETIME_MS: duration(
    7 * 24 * 60 * MINUTE,
    MINUTE,
    'Longest duration of a dashboard session.',
  ),
  GATEHOUSE_METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Bearer token for /metrics from other machines. Without it, /metrics serves this machine only.',
    ),
  GATEHOUSE_EGRESS_ALLOW: z
    .string()
    .default('')
    .describe(
      'Private addresses that the gateway may call: host:port or CIDR:port, comma-separated; port * for any.',
    ),
  GATEHOUSE_UPSTREAM_CONNECTIONS: wholeNumberSetting(
    4_096,
    1,
    'Maximum connections per process, origin and organization. Further requests wait.',
  ),
  GATEHOUSE_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe('Proxies whose X-Forwarded-For is trusted: addresses or CIDRs, comma-separated.'),
  GATEHOUSE_ADMIN_SOCKET: z
    .string()
    .optional()
    .describe(
      'Path of the socket between the gateway processes and the administration. Default: in the data folder.',
    ),
  GATEHOUSE_CONNECT_TIMEOUT_MS: duration(5_000, 1, 'Timeout of an attempt to connect to the provider.'),
  GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: duration(
    5 * MINUTE,
    1,
    'Timeout of an attempt from sending the request to the first byte of the response.',
  ),
  GATEHOUSE_IDLE_TIMEOUT_MS: duration(
    2 * MINUTE,
    1,
    'Timeout of an attempt between two chunks of the response.',
  ),
  GATEHOUSE_TOTAL_TIMEOUT_MS: duration(
    30 * MINUTE,
    1,
    'Timeout of an attempt until the last byte of the response.',
  ),
  GATEHOUSE_HTTP_FAST_PATH: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      "Whether Gatehouse's own parser reads plainly written data plane requests (on), or Node's HTTP server reads all of them (off).",
    ),
  GATEHOUSE_HTTP_CLIENT: z
    .enum(['own', 'undici'])
    .default('own')
    .describe("The HTTP client for requests to providers: Gatehouse's own, or undici."),
  GATEHOUSE_BODY_LIMIT_BYTES: wholeNumberSetting(
    32 * MIB,
    1024,
    'Largest request body that the gateway parses.',
  ),
  GATEHOUSE_OUTPUT_TOKENS_CEILING: wholeNumberSetting(
    16_384,
    1,
    'Output tokens that limits reserve for a request without max_tokens.',
  ),
  GATEHOUSE_CACHE_MEMORY_BYTES: wholeNumberSetting(64 * MIB, 0, 'Memory for cached responses, per process.'),
  GATEHOUSE_CACHE_STORE_BYTES: wholeNumberSetting(
    512 * MIB,
    0,
    'Storage for cached responses in the database or Redis. 0 stores none there.',
  ),
  GATEHOUSE_LOG_BODIES: z
    .enum(['full', 's3', 'off'])
    .default('full')
    .describe(
      'Where request and response bodies are logged: in the database (full), in GATEHOUSE_S3_BUCKET (s3), or not at all (off).',
    ),
  GATEHOUSE_BODY_SEARCH: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Whether GET /v1/logs can search request and response bodies for text.'),
  GATEHOUSE_INBOX_LIMIT_BYTES: wholeNumberSetting(
    256 * MIB,
    64 * MIB,
    'Ingested logs that may wait for the background process, per organization. Further ones are refused.',
  ),
  GATEHOUSE_LOG_RETENTION_DAYS: wholeNumberSetting(
    90,
    0,
    'Days for which request logs are kept. 0 keeps them without limit.',
  ),
  GATEHOUSE_BODY_RETENTION_DAYS: wholeNumberSetting(
    30,
    0,
    'Days for which request and response bodies are kept. 0 keeps them without limit.',
  ),
  GATEHOUSE_POSTGRES_BODY_DAYS: wholeOrNone(
    0,
    'With CLICKHOUSE_URL: days after which PostgreSQL drops the bodies of a day (UTC) that ClickHouse has. 0: when the day has ended. Default: it keeps them as long as their retention says.',
  ),
  GATEHOUSE_MINUTE_RETENTION_DAYS: wholeNumberSetting(
    90,
    0,
    'Days for which analytics are kept by the minute. Hours and days are kept without limit; 0 does so for minutes.',
  ),
  GATEHOUSE_EXPORT_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder for export files. Several machines need a shared one. Default: exports in the data folder.',
    ),
  GATEHOUSE_EXPORT_RETENTION_DAYS: wholeNumberSetting(7, 1, 'Days for which export files are kept.'),
  GATEHOUSE_EXPORT_LIMIT_BYTES: wholeNumberSetting(2048 * MIB, MIB, 'Largest export file.'),
  GATEHOUSE_EXPORT_STORE: z
    .enum(['folder', 's3'])
    .default('folder')
    .describe('Where finished export files are stored: in GATEHOUSE_EXPORT_DIR, or in the bucket.'),
  GATEHOUSE_PRICES_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with prices and context windows of models, which override the built-in ones. It is read again when it changes.',
    ),
  ...externalCredentialSettings(duration),
  ...proxySettings,
  ...sinkSettings,
  ...otelSettings,
  GATEHOUSE_ANALYTICS_METADATA_KEYS: z
    .string()
    .default('_environment,_organisation,_prompt')
    .describe(
      'Keys of x-gateway-metadata with pre-aggregated analytics, comma-separated. Other keys are read from the request logs.',
    ),
  GATEHOUSE_ANALYTICS_DIRECT_ROWS: wholeNumberSetting(
    1_000_000,
    0,
    'Groups that read more rows of the request log than this are counted in the background, and the response is 202 with a job.',
  ),
  GATEHOUSE_STALE_KEYS_MS: duration(
    24 * 60 * MINUTE,
    0,
    'How long known keys work while the database is unavailable, even after a restart. 0 refuses them at once and stores no snapshot.',
  ),
  GATEHOUSE_REQUEST_TIMEOUT_MS: duration(
    10 * MINUTE,
    1_000,
    'How long a client may take to send a whole request, uploads included.',
  ),
  GATEHOUSE_DRAIN_DELAY_MS: duration(
    3_000,
    0,
    'After SIGTERM: how long to keep serving while readiness is 503.',
  ),
  GATEHOUSE_DRAIN_TIMEOUT_MS: duration(
    2 * MINUTE,
    0,
    'After SIGTERM: how long running streams may take to finish.',
  ),
  GATEHOUSE_DRAIN_SPOOL_MS: duration(
    10_000,
    0,
    'At the end of the drain: how long to try to store the request logs of the spool. The rest is stored at the next start on the same data folder.',
  ),
  GATEHOUSE_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Log level of the processes.'),
  GATEHOUSE_ACCESS_LOG: z
    .enum(['off', 'errors', 'all'])
    .default('errors')
    .describe('Model requests with a line in the log: none, those that fail or are slow (errors), or all.'),
  GATEHOUSE_SLOW_REQUEST_MS: duration(MINUTE, 1, 'Duration from which a request is slow for the access log.'),
  GATEHOUSE_SLOW_STATEMENT_MS: duration(
    1_000,
    1,
    'Duration from which a statement to PostgreSQL is slow: it is counted, and logged without its values.',
  ),
  GATEHOUSE_LOG_FORMAT: z
    .enum(['auto', 'text', 'json'])
    .default('auto')
    .describe(
      'Format of the log: readable lines (text), JSON, or text on a terminal and JSON elsewhere (auto).',
    ),
});
