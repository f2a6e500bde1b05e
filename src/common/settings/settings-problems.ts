import type { z } from 'zod';
import { parseEgressAllow } from '../net/egress-allow.js';
import { isAddressRange } from '../http/client-address.js';
import { listIn } from '../text/list-in.js';
import { settingsSchema } from './settings-schema.js';
import { badSinks } from './sink-settings.js';
import { badTls } from './tls-settings.js';

type CheckedRawSettings = z.infer<typeof settingsSchema>;

/**
 * Errors beyond the format of single settings. Invalid settings have their defaults here, so that all other errors are reported together
 * with theirs; they are not reported twice.
 */
export function problemsBetween(environment: Record<string, string>, wrong: ReadonlySet<string>): string[] {
  const raw = settingsSchema.parse(
    Object.fromEntries(Object.entries(environment).filter(([name]) => !wrong.has(name))),
  );
  return [
    ...badKeys(raw),
    ...badEgressRules(raw),
    ...badProxies(raw),
    ...badMail(raw),
    ...badCluster(raw),
    ...badBodyDays(raw),
    ...badInitOwner(raw),
    ...badSinks(raw, environment),
    ...badTls(raw),
  ].filter((problem) => !wrong.has(problem.slice(0, problem.indexOf(':'))));
}

const KEY_BYTES = 32;

function badKeys(raw: CheckedRawSettings): string[] {
  return (['GATEHOUSE_MASTER_KEY', 'GATEHOUSE_NEXT_MASTER_KEY', 'GATEHOUSE_KEY_PEPPER'] as const)
    .filter((name) => raw[name] !== undefined && !isStrongKey(raw[name]))
    .map(
      (name) => `${name}: must be ${KEY_BYTES} random bytes in base64; "openssl rand -base64 32" makes one.`,
    );
}

/** Refuses short keys and those that repeat one byte, like samples and placeholders. */
function isStrongKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES && new Set(bytes).size > 8;
}

function badEgressRules(raw: CheckedRawSettings): string[] {
  return parseEgressAllow(raw.GATEHOUSE_EGRESS_ALLOW).problems.map(
    (problem) => `GATEHOUSE_EGRESS_ALLOW: ${problem}`,
  );
}

function badProxies(raw: CheckedRawSettings): string[] {
  return listIn(raw.GATEHOUSE_TRUSTED_PROXIES)
    .filter((range) => !isAddressRange(range))
    .map((range) => `GATEHOUSE_TRUSTED_PROXIES: "${range}" is neither an address nor a CIDR.`);
}

/** A mail needs a sender, and its link a configured address: the host in a request cannot be trusted. */
function badMail(raw: CheckedRawSettings): string[] {
  if (raw.GATEHOUSE_SMTP_URL === undefined) return [];
  return (['GATEHOUSE_MAIL_FROM', 'GATEHOUSE_PUBLIC_URL'] as const)
    .filter((name) => raw[name] === undefined)
    .map((name) => `${name}: is required by GATEHOUSE_SMTP_URL.`);
}

function badInitOwner(raw: CheckedRawSettings): string[] {
  const [email, password] = ['GATEHOUSE_INIT_OWNER_EMAIL', 'GATEHOUSE_INIT_OWNER_PASSWORD'] as const;
  if ((raw[email] === undefined) === (raw[password] === undefined)) return [];
  return raw[email] === undefined
    ? [`${password}: is set without ${email}.`]
    : [`${email}: is set without ${password}.`];
}

function badCluster(raw: CheckedRawSettings): string[] {
  return raw.CLICKHOUSE_CLUSTER === undefined || raw.CLICKHOUSE_URL !== undefined
    ? []
    : ['CLICKHOUSE_CLUSTER: is set without CLICKHOUSE_URL.'];
}

function badBodyDays(raw: CheckedRawSettings): string[] {
  const name = 'GATEHOUSE_POSTGRES_BODY_DAYS';
  if (raw[name] === undefined) return [];
  if (raw.CLICKHOUSE_URL === undefined) return [`${name}: is set without CLICKHOUSE_URL.`];
  return raw.GATEHOUSE_LOG_BODIES === 'full' ? [] : [`${name}: needs GATEHOUSE_LOG_BODIES=full.`];
}
