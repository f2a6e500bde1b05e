import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] as const;

/** Paths of a certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface IssueOptions {
  /** Default: `/CN=<name>`. */
  readonly subject?: string;
  readonly days?: number;
  /** Further names of hosts. */
  readonly hosts?: readonly string[];
  /** Encrypts the key. */
  readonly passphrase?: string;
}

/** A certificate authority of one test, made by `openssl`, with its files in a folder of its own. */
export class TestAuthority {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-ca-'));
  /** Path of its certificate. */
  readonly cert = join(this.folder, 'ca.pem');

  constructor(name = 'Test authority') {
    const own = ['-nodes', '-keyout', this.key, '-out', this.cert, '-subj', `/CN=${name}`, '-days', '2'];
    openssl(['req', '-x509', ...EC, ...own, '-addext', 'keyUsage=critical,keyCertSign,cRLSign']);
  }

  private get key(): string {
    return join(this.folder, 'ca.key');
  }

  get pem(): string {
    return readFileSync(this.cert, 'utf8');
  }

  /** A certificate for `localhost` and 127.0.0.1, which also identifies a client. `name` names its files. */
  issue(
    name: string,
    { subject = `/CN=${name}`, days = 2, hosts = [], passphrase }: IssueOptions = {},
  ): CertificateFiles {
    const files = { cert: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
    const secrecy = passphrase === undefined ? ['-nodes'] : ['-passout', `pass:${passphrase}`];
    const names = ['DNS:localhost', 'IP:127.0.0.1', ...hosts.map((host) => `DNS:${host}`)];
    openssl([
      ...['req', '-x509', '-CA', this.cert, '-CAkey', this.key, ...EC, ...secrecy],
      ...['-keyout', files.key, '-out', files.cert, '-subj', subject, '-days', String(days)],
      ...['-addext', `subjectAltName=${names.join(',')}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
    ]);
    return files;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What Node's clients and servers take. */
export const pemOf = ({ cert, key }: CertificateFiles) => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
});

const openssl = (args: readonly string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });
