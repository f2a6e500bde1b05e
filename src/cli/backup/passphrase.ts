import { Secret } from '../../common/settings/secret.js';
import { secretIn } from '../secret-in-file.js';
import { LauncherError } from '../launcher-error.js';
import { askHidden } from '../terminal.js';

/** A passphrase is never an argument: process lists show those. */
export interface PassphraseOptions {
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
}

const FEWEST_CHARACTERS = 12;

/** For a new backup: long enough, and typed twice on a terminal. */
export async function newPassphrase(
  environment: NodeJS.ProcessEnv,
  options: PassphraseOptions,
): Promise<Secret> {
  const fromOptions = await givenPassphrase(environment, options);
  const passphrase = fromOptions ?? (await askHidden('Passphrase of the backup: '));
  if (passphrase.length < FEWEST_CHARACTERS)
    throw new LauncherError(
      `The passphrase has ${passphrase.length} characters. Use at least ${FEWEST_CHARACTERS}: it protects the master key.`,
    );
  if (fromOptions === null && (await askHidden('The same passphrase again: ')) !== passphrase)
    throw new LauncherError('The two passphrases differ. No backup was made.');
  return new Secret(passphrase);
}

/** For an existing backup. */
export async function knownPassphrase(
  environment: NodeJS.ProcessEnv,
  options: PassphraseOptions,
): Promise<Secret> {
  return new Secret(
    (await givenPassphrase(environment, options)) ?? (await askHidden('Passphrase of the backup: ')),
  );
}

async function givenPassphrase(
  environment: NodeJS.ProcessEnv,
  { passphraseFile, passphraseEnv }: PassphraseOptions,
): Promise<string | null> {
  if (passphraseFile !== undefined) return secretIn(passphraseFile);
  if (passphraseEnv === undefined) return null;
  const value = environment[passphraseEnv];
  if (!value)
    throw new LauncherError(`The variable ${passphraseEnv}, which --passphrase-env names, is not set.`);
  return value;
}
