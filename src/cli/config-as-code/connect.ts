import { Secret } from '../../common/settings/secret.js';
import { baseUrl } from '../../common/settings/base-url.js';
import { loadSettings } from '../../common/settings/settings.js';
import { readBootstrapFile } from '../bootstrap-file.js';
import { LauncherError } from '../launcher-error.js';
import { secretIn } from '../secret-in-file.js';
import { AdministrationClient } from './administration-client.js';

export interface ConnectOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly keyEnv?: string;
}

/** Connects to the administration with an admin key: from a file, an environment variable, or the first start's `bootstrap.json`. */
export async function connect(
  environment: NodeJS.ProcessEnv,
  { url, keyFile, keyEnv }: ConnectOptions,
): Promise<AdministrationClient> {
  const given = await givenKey(environment, keyFile, keyEnv);
  if (url !== undefined && given) return new AdministrationClient(url.replace(/\/+$/, ''), given);
  const settings = loadSettings(environment);
  const first = await readBootstrapFile(settings.dataDir);
  const key = given ?? (first && new Secret(first.admin_api_key));
  if (!key)
    throw new LauncherError(
      'An admin key is needed: --key-file <path>, --key-env <name>, or bootstrap.json in the data folder.',
    );
  const address = url ?? first?.base_url ?? baseUrl(settings, settings.port);
  return new AdministrationClient(address.replace(/\/+$/, ''), key);
}

async function givenKey(
  environment: NodeJS.ProcessEnv,
  file: string | undefined,
  variable: string | undefined,
): Promise<Secret | null> {
  if (file !== undefined) return new Secret(await secretIn(file));
  if (variable === undefined) return null;
  const value = environment[variable];
  if (!value) throw new LauncherError(`The variable ${variable}, which --key-env names, is not set.`);
  return new Secret(value);
}
