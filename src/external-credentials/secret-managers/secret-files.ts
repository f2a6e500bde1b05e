import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Secret } from '../../common/settings/secret.js';
import {
  type SecretLocation,
  type SecretManager,
  unavailableSecret,
  unusableSecret,
} from './secret-location.js';

const LARGEST_BYTES = 64 * 1024;

/**
 * Files of the machine, such as mounted secrets of Kubernetes: `<folder>/<organization id>/<path>`. A link must stay within the
 * organization's folder.
 */
export class SecretFiles implements SecretManager {
  /** `folder`: null if the operator allows no files. */
  constructor(private readonly folder: string | null) {}

  async read(location: SecretLocation): Promise<Secret> {
    if (this.folder === null)
      throw unusableSecret(
        location,
        'this gateway reads no secret files, because GATEHOUSE_SECRETS_DIR is not set',
      );
    try {
      const root = await realpath(join(this.folder, location.organizationId));
      const file = await realpath(join(root, location.path));
      if (!file.startsWith(root + sep)) throw unusableSecret(location, 'the file is outside of its folder');
      return await contentOf(location, file);
    } catch (error) {
      throw failureOf(location, error);
    }
  }
}

async function contentOf(location: SecretLocation, file: string): Promise<Secret> {
  const handle = await open(file, 'r');
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw unusableSecret(location, 'the path is not a file');
    if (info.size > LARGEST_BYTES)
      throw unusableSecret(location, `the file is larger than ${LARGEST_BYTES} bytes`);
    return new Secret(await handle.readFile('utf8'));
  } finally {
    await handle.close();
  }
}

/** A file that is absent was removed; any other failure may pass. */
function failureOf(location: SecretLocation, error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ENOENT' || code === 'ENOTDIR') return unusableSecret(location, 'there is no such file');
  if (code === 'EACCES') return unusableSecret(location, 'the gateway may not read the file');
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    return unavailableSecret(location, 'the file cannot be read', error);
  return error;
}
