import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Settings } from '../../common/settings/settings.js';
import type { TlsListenerSettings } from '../../common/settings/tls-settings.js';
import { checkTlsMaterial, readTlsFiles } from '../../server/tls/tls-files.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';

const DAY_MS = 86_400_000;
const DAYS_WARNED = 30;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A configured certificate, with its private key if there is a pair. */
interface TlsFiles {
  readonly setting: string;
  readonly certificates: string;
  readonly key?: string;
}

/**
 * The configured certificate files: additional authorities of Node, and those in PostgreSQL's URL (https://node-postgres.com/features/ssl).
 * No findings without them.
 */
export async function checkCertificates(
  { databaseUrl, tls }: Settings,
  environment: NodeJS.ProcessEnv,
): Promise<DoctorFinding[]> {
  const files: TlsFiles[] = [];
  const authorities = environment['NODE_EXTRA_CA_CERTS'];
  if (authorities) files.push({ setting: 'NODE_EXTRA_CA_CERTS', certificates: authorities });
  const parameters = databaseUrl ? new URL(databaseUrl.reveal()).searchParams : new URLSearchParams();
  const [root, certificate, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name));
  if (root) files.push({ setting: 'sslrootcert of DATABASE_URL', certificates: root });
  if (certificate)
    files.push({ setting: 'sslcert of DATABASE_URL', certificates: certificate, ...(key ? { key } : {}) });
  const findings = await Promise.all(files.map((each) => checkFiles(each)));
  if (tls) findings.push(checkListener(tls));
  if (authorities && process.env['NODE_EXTRA_CA_CERTS'] !== authorities)
    findings.push(
      warning(
        'Certificates',
        'NODE_EXTRA_CA_CERTS is set for the instance and not for this command',
        `Rows that fail because of a certificate may be fine: set NODE_EXTRA_CA_CERTS=${authorities} for this command.`,
      ),
    );
  return findings;
}

function checkListener(tls: TlsListenerSettings): DoctorFinding {
  try {
    const named = `GATEHOUSE_TLS_CERTIFICATE_FILE (${tls.certificateFile})`;
    return judgeEnd(named, checkTlsMaterial(readTlsFiles(tls)), Date.now());
  } catch (error) {
    return failed('Certificates', errorText(error), 'Give a certificate and its key in PEM format.');
  }
}

async function checkFiles({ setting, certificates: path, key }: TlsFiles): Promise<DoctorFinding> {
  const named = `${setting} (${path})`;
  try {
    const certificates = [...(await readFile(path, 'utf8')).matchAll(PEM_CERTIFICATE)].map(
      ([pem]) => new X509Certificate(pem),
    );
    const [first] = certificates;
    if (!first) return failed('Certificates', `${named} holds no certificate`, 'Give a file in PEM format.');
    if (key && !first.checkPrivateKey(createPrivateKey(await readFile(key))))
      return failed(
        'Certificates',
        `the key ${key} does not belong to ${path}`,
        'Give the key of that certificate.',
      );
    return judgeExpiry(named, certificates, Date.now());
  } catch (error) {
    return failed('Certificates', `${named}: ${errorText(error)}`, 'Give a file that this user may read.');
  }
}

/**
 * Of several certificates, the last expiry counts: bundles of authorities contain expired ones, and the certificates after a client's
 * belong to its authorities.
 */
export function judgeExpiry(
  named: string,
  certificates: readonly X509Certificate[],
  nowMs: number,
): DoctorFinding {
  const ends = certificates.map(({ validTo }) => Date.parse(validTo));
  return judgeEnd(named, Math.max(...ends), nowMs);
}

function judgeEnd(named: string, endsAt: number, nowMs: number): DoctorFinding {
  const days = Math.floor((endsAt - nowMs) / DAY_MS);
  const date = new Date(endsAt).toISOString().slice(0, 'yyyy-mm-dd'.length);
  if (days < 0) return failed('Certificates', `${named} expired on ${date}`, 'Renew it.');
  if (days < DAYS_WARNED)
    return warning('Certificates', `${named} expires on ${date}, in ${days} days`, 'Renew it.');
  return ok('Certificates', `${named}, valid until ${date}`);
}
