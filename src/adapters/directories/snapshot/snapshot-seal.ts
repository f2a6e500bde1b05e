import { SecretBox } from '../../../common/crypto/envelope.js';
import { hashApiKey } from '../../../common/crypto/key-hash.js';
import type { Secret } from '../../../common/settings/secret.js';

/** The installation that a snapshot belongs to. */
export interface Installation {
  readonly masterKey: Secret;
  readonly keyPepper: Secret;
  readonly databaseUrl: Secret;
}

const NO_ORGANIZATION = '';

/**
 * Encrypts the parts of a snapshot with the master key. They decrypt only with the same keys and for the same database, in the same file
 * and position.
 */
export class SnapshotSeal {
  private readonly box: SecretBox;
  private readonly installation: string;

  constructor({ masterKey, keyPepper, databaseUrl }: Installation) {
    this.box = new SecretBox(masterKey);
    // Without the port, which changes at each start of the embedded database.
    const { hostname, pathname } = new URL(databaseUrl.reveal());
    this.installation = hashApiKey(keyPepper, `snapshot of ${hostname}${pathname}`).toString('base64');
  }

  seal(file: string, part: number, clear: Buffer): Buffer {
    return this.box.sealBytes(NO_ORGANIZATION, this.purpose(file, part), clear);
  }

  /** Throws for bytes that `seal` did not produce for the same file and part. */
  open(file: string, part: number, sealed: Buffer): Buffer {
    return this.box.openBytes(NO_ORGANIZATION, this.purpose(file, part), sealed);
  }

  private purpose(file: string, part: number): string[] {
    return ['snapshot of directories', this.installation, file, String(part)];
  }
}
