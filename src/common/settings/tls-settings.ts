import { resolve } from 'node:path';
import { z } from 'zod';
import { badStoreTls } from '../net/store-tls.js';
import { Secret } from './secret.js';

const file = (description: string) => z.string().min(1).optional().describe(description);

/** Settings of the TLS listener (docs/tls.md). Ciphers are those of Node: https://nodejs.org/docs/latest-v20.x/api/tls.html#modifying-the-default-tls-cipher-suite */
export const tlsSettings = {
  GATEHOUSE_TLS_CERTIFICATE_FILE: file(
    'File with the certificate of the port and its intermediate authorities (PEM). The port then speaks TLS only (docs/tls.md). It is read again when it changes. Default: plain HTTP.',
  ),
  GATEHOUSE_TLS_KEY_FILE: file(
    'File with the private key of that certificate (PEM). Needed with GATEHOUSE_TLS_CERTIFICATE_FILE.',
  ),
  GATEHOUSE_TLS_KEY_PASSPHRASE: z
    .string()
    .optional()
    .describe('Passphrase of an encrypted private key. It is read at the start.'),
  GATEHOUSE_TLS_MIN_VERSION: z.enum(['1.2', '1.3']).default('1.2').describe('Oldest accepted TLS version.'),
  GATEHOUSE_TLS_CLIENT_CERTIFICATES: z
    .enum(['off', 'request', 'require'])
    .default('off')
    .describe(
      'Client certificates: not asked for (off), checked if the client presents one (request), or required of every client (require).',
    ),
  GATEHOUSE_TLS_CLIENT_CA_FILE: file(
    'File with the authorities that sign client certificates (PEM). It is read again when it changes. Needed with GATEHOUSE_TLS_CLIENT_CERTIFICATES.',
  ),
  GATEHOUSE_PROBES_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe(
      'Further port for /livez, /readyz and /metrics over plain HTTP, also where clients need a certificate. Default: none.',
    ),
};

/** The ports besides their numbers. */
export interface ListenerSettings {
  /** Null when the port speaks plain HTTP. */
  readonly tls: TlsListenerSettings | null;
  /** A further port for probes and metrics, over plain HTTP; null for none. */
  readonly probesPort: number | null;
}

export interface TlsListenerSettings {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly keyPassphrase: Secret | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Null when clients are not asked for a certificate. */
  readonly clientCertificates: ClientCertificateSettings | null;
}

export interface ClientCertificateSettings {
  readonly caFile: string;
  /** Whether a client without one is refused. */
  readonly areRequired: boolean;
}

type RawTls = z.infer<z.ZodObject<typeof tlsSettings>>;

export function listenerOf(raw: RawTls): ListenerSettings {
  return { tls: tlsOf(raw), probesPort: raw.GATEHOUSE_PROBES_PORT ?? null };
}

function tlsOf(raw: RawTls): TlsListenerSettings | null {
  const { GATEHOUSE_TLS_CERTIFICATE_FILE: certificate, GATEHOUSE_TLS_KEY_FILE: key } = raw;
  if (certificate === undefined || key === undefined) return null;
  const { GATEHOUSE_TLS_KEY_PASSPHRASE: passphrase, GATEHOUSE_TLS_CLIENT_CA_FILE: caFile } = raw;
  const mode = raw.GATEHOUSE_TLS_CLIENT_CERTIFICATES;
  return {
    certificateFile: resolve(certificate),
    keyFile: resolve(key),
    keyPassphrase: passphrase === undefined ? undefined : new Secret(passphrase),
    minVersion: `TLSv${raw.GATEHOUSE_TLS_MIN_VERSION}`,
    clientCertificates:
      mode === 'off' || caFile === undefined
        ? null
        : { caFile: resolve(caFile), areRequired: mode === 'require' },
  };
}

/** Settings of which one needs the other. */
const NEEDS = [
  ['GATEHOUSE_TLS_CERTIFICATE_FILE', 'GATEHOUSE_TLS_KEY_FILE'],
  ['GATEHOUSE_TLS_KEY_FILE', 'GATEHOUSE_TLS_CERTIFICATE_FILE'],
  ['GATEHOUSE_TLS_KEY_PASSPHRASE', 'GATEHOUSE_TLS_KEY_FILE'],
  ['GATEHOUSE_TLS_CLIENT_CA_FILE', 'GATEHOUSE_TLS_CERTIFICATE_FILE'],
] as const;

/** Errors of the listener's settings, and of the certificate files in the URLs of stores. */
export function badTls(raw: RawTls & RawStores): string[] {
  return [
    ...badListener(raw),
    ...badStoreTls('REDIS_URL', raw.REDIS_URL, 'rediss:'),
    ...badStoreTls('CLICKHOUSE_URL', raw.CLICKHOUSE_URL, 'https:'),
  ];
}

interface RawStores {
  readonly REDIS_URL?: string | undefined;
  readonly CLICKHOUSE_URL?: string | undefined;
}

/** Incomplete settings, which would otherwise leave the port without TLS or open to clients without a certificate. */
function badListener(raw: RawTls): string[] {
  const missing = NEEDS.filter(([name, needed]) => raw[name] !== undefined && raw[needed] === undefined);
  const problems = missing.map(([name, needed]) => `${needed}: is required by ${name}.`);
  const [mode, ca] = ['GATEHOUSE_TLS_CLIENT_CERTIFICATES', 'GATEHOUSE_TLS_CLIENT_CA_FILE'] as const;
  const asks = raw[mode] !== 'off';
  if (asks && raw.GATEHOUSE_TLS_CERTIFICATE_FILE === undefined)
    problems.push(`GATEHOUSE_TLS_CERTIFICATE_FILE: is required by ${mode}.`);
  if (asks && raw[ca] === undefined) problems.push(`${ca}: is required by ${mode}.`);
  if (!asks && raw[ca] !== undefined)
    problems.push(`${mode}: must be request or require, because ${ca} is set.`);
  return [...new Set(problems)];
}
