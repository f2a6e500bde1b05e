import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../common/settings/secret.js';
import { LauncherError } from '../launcher-error.js';
import { ENTRIES } from './manifest.js';
import { parseEntry } from './parse-entry.js';

const VERSION = 1;
/** 128 MiB and about 0.5 s: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt */
const COST = { n: 2 ** 17, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
/** https://nvlpubs.nist.gov/nistpubs/Legacy/SP/nistspecialpublication800-38d.pdf, section 5.2.1.1 */
const NONCE_BYTES = 12;
const SALT_BYTES = 16;

const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));
const header = z.object({
  version: z.literal(VERSION),
  kdf: z.object({
    name: z.literal('scrypt'),
    // Limited to 512 MiB and a few seconds: an archive from elsewhere could demand all memory of the machine.
    n: z
      .int()
      .min(2 ** 14)
      .max(2 ** 19),
    r: z.literal(COST.r),
    p: z.int().min(1).max(4),
    salt: bytes,
  }),
  cipher: z.object({ name: z.literal('aes-256-gcm'), nonce: bytes, tag: bytes }),
  sealed: bytes,
});

/** The keys that a passphrase gives for one backup. */
export class BackupKeys {
  private constructor(
    private readonly sealing: Buffer,
    private readonly signing: Buffer,
    private readonly salt: Buffer,
    private readonly cost: { readonly n: number; readonly r: number; readonly p: number },
  ) {}

  /** For a new backup. */
  static make(passphrase: Secret): Promise<BackupKeys> {
    return BackupKeys.derive(passphrase, randomBytes(SALT_BYTES), COST);
  }

  /** For the backup with these sealed secrets. */
  static async of(passphrase: Secret, sealedSecrets: string): Promise<BackupKeys> {
    const { kdf } = readHeader(sealedSecrets);
    return BackupKeys.derive(passphrase, kdf.salt, { n: kdf.n, r: kdf.r, p: kdf.p });
  }

  private static async derive(
    passphrase: Secret,
    salt: Buffer,
    cost: BackupKeys['cost'],
  ): Promise<BackupKeys> {
    const key = await new Promise<Buffer>((resolve, reject) => {
      const maxmem = 256 * cost.n * cost.r * cost.p;
      const options = { N: cost.n, r: cost.r, p: cost.p, maxmem };
      scrypt(passphrase.reveal().normalize('NFC'), salt, 2 * KEY_BYTES, options, (error, derived) =>
        error ? reject(error) : resolve(derived),
      );
    });
    return new BackupKeys(key.subarray(0, KEY_BYTES), key.subarray(KEY_BYTES), salt, cost);
  }

  /** The text of `secrets.json` in the archive. It opens only beside the same manifest. */
  seal(clear: Secret, manifest: string): string {
    const kdf = { name: 'scrypt', ...this.cost, salt: this.salt.toString('base64') };
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.sealing, nonce).setAAD(digestOf(manifest));
    const sealed = Buffer.concat([cipher.update(clear.reveal(), 'utf8'), cipher.final()]);
    return JSON.stringify({
      version: VERSION,
      kdf,
      cipher: {
        name: 'aes-256-gcm',
        nonce: nonce.toString('base64'),
        tag: cipher.getAuthTag().toString('base64'),
      },
      sealed: sealed.toString('base64'),
    });
  }

  open(sealedSecrets: string, manifest: string): string {
    const { cipher, sealed } = readHeader(sealedSecrets);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.sealing, cipher.nonce, { authTagLength: 16 })
        .setAAD(digestOf(manifest))
        .setAuthTag(cipher.tag);
      return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new LauncherError(
        'The passphrase does not open this backup, or its manifest was changed. Give the passphrase that it was made with.',
        { cause },
      );
    }
  }

  /** Shows that only the holder of the passphrase has written this text. */
  sign(text: string): string {
    return createHmac('sha256', this.signing).update(text).digest('hex');
  }

  hasSigned(text: string, signature: string): boolean {
    const [own, theirs] = [this.sign(text), signature].map((hex) => Buffer.from(hex, 'hex'));
    return own !== undefined && theirs?.length === own.length && timingSafeEqual(own, theirs);
  }
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

function readHeader(text: string): z.infer<typeof header> {
  const { version } = parseEntry(ENTRIES.secrets, z.looseObject({ version: z.number() }), text);
  if (version > VERSION)
    throw new LauncherError(
      `The secrets of the backup have version ${version}, and this release reads ${VERSION}. Restore it with the release that made it, or a newer one.`,
    );
  return parseEntry(ENTRIES.secrets, header, text);
}
