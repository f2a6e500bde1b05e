import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsListenerSettings } from '../../common/settings/tls-settings.js';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Certificate and key of the listener, and the authorities of client certificates, as Node takes them. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string;
  readonly minVersion: TlsListenerSettings['minVersion'];
  readonly ca?: string;
  readonly secureOptions?: number;
}

/**
 * A resumed session shows no certificate, and its ticket outlives the expiry of the one that it began with. Each connection of a client
 * with a certificate therefore takes a full handshake: https://www.rfc-editor.org/rfc/rfc8446#section-2.2. Node resumes no session by id,
 * because nothing stores sessions.
 */
const WITHOUT_RESUMPTION = constants.SSL_OP_NO_TICKET;

/** Reads the files. The error of a file that cannot be read names its setting. */
export function readTlsFiles(settings: TlsListenerSettings): TlsMaterial {
  const { certificateFile, keyFile, keyPassphrase, minVersion, clientCertificates } = settings;
  return {
    cert: read('GATEHOUSE_TLS_CERTIFICATE_FILE', certificateFile),
    key: read('GATEHOUSE_TLS_KEY_FILE', keyFile),
    minVersion,
    ...(keyPassphrase && { passphrase: keyPassphrase.reveal() }),
    ...(clientCertificates && {
      ca: read('GATEHOUSE_TLS_CLIENT_CA_FILE', clientCertificates.caFile),
      secureOptions: WITHOUT_RESUMPTION,
    }),
  };
}

/** Milliseconds since the epoch at which the first certificate of the chain expires. Throws, naming the setting, for files that cannot be used. */
export function checkTlsMaterial({ cert, key, passphrase, ca }: TlsMaterial): number {
  const chain = certificatesIn('GATEHOUSE_TLS_CERTIFICATE_FILE', cert);
  if (ca !== undefined) certificatesIn('GATEHOUSE_TLS_CLIENT_CA_FILE', ca);
  if (!chain[0]?.checkPrivateKey(privateKeyIn(key, passphrase)))
    throw new Error('GATEHOUSE_TLS_KEY_FILE: the key does not belong to the first certificate.');
  return Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
}

function read(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`${setting}: ${path} cannot be read (${code ?? 'unknown'}).`, { cause });
  }
}

function certificatesIn(setting: string, pem: string): X509Certificate[] {
  const parts = pem.match(PEM_CERTIFICATE) ?? [];
  if (parts.length === 0) throw new Error(`${setting}: the file holds no certificate in PEM format.`);
  try {
    return parts.map((each) => new X509Certificate(each));
  } catch (cause) {
    throw new Error(`${setting}: a certificate in the file is damaged.`, { cause });
  }
}

function privateKeyIn(key: string, passphrase: string | undefined) {
  try {
    return createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new Error(
      `GATEHOUSE_TLS_KEY_FILE: the key cannot be opened (${code ?? message}). An encrypted key needs GATEHOUSE_TLS_KEY_PASSPHRASE.`,
      { cause },
    );
  }
}
