import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Settings } from '../common/settings/settings.js';
import { checkTlsMaterial, readTlsFiles } from '../server/tls/tls-files.js';
import { LauncherError } from './launcher-error.js';

/** Refuses a start with certificate files that cannot be used, before any process is started. */
export function checkCertificateFiles(
  { tls }: Pick<Settings, 'tls'>,
  { NODE_EXTRA_CA_CERTS: authorities }: Readonly<Record<string, string | undefined>>,
): void {
  try {
    if (tls) checkTlsMaterial(readTlsFiles(tls));
  } catch (cause) {
    throw new LauncherError((cause as Error).message, { cause });
  }
  if (authorities) checkAuthorities(authorities);
}

/** Node only warns, and every connection to a private authority would fail later. https://nodejs.org/docs/latest-v20.x/api/cli.html#node_extra_ca_certsfile */
function checkAuthorities(path: string): void {
  try {
    new X509Certificate(readFileSync(path));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' || code === 'EACCES' ? `cannot be read (${code})` : 'holds no certificate';
    throw new LauncherError(
      `NODE_EXTRA_CA_CERTS: ${path} ${reason}. Give a readable file in PEM format, or unset it.`,
      { cause },
    );
  }
}
