import type { Client } from 'pg';
import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import type { Secret } from '../../common/settings/secret.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { type InstanceSecrets, proposeMasterKey, resolveSecrets, settleMasterKey } from '../data-folder.js';
import { withRunningDatabase } from '../database/with-database.js';
import { FolderLock } from '../folder/folder-lock.js';
import { runsWithNextKey } from '../launch-plan.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { isConfirmed } from '../terminal.js';
import { replaceMasterKey } from './replace-master-key.js';

export interface RotateOptions extends JsonOption {
  readonly yes?: boolean;
}

const QUESTION = 'Replace the master key? Back up the database and secrets.json first.';

/**
 * `gatehouse rotate master-key`. Returns the exit code. If it is killed at any point, the service starts with the keys it has by then, and
 * the command can be repeated to continue.
 */
export async function rotateCommand(environment: NodeJS.ProcessEnv, options: RotateOptions): Promise<number> {
  const output = new CommandOutput(options);
  const settings = loadSettings(environment);
  if (!options.yes && !(await isConfirmed(QUESTION))) {
    output.say('Nothing was changed.');
    return 1;
  }
  const isRunning = await FolderLock.isHeld(settings.dataDir);
  await withRunningDatabase(settings, async (url) => {
    const client = postgresClient('commands', {
      connectionString: url.reveal(),
      application_name: 'gatehouse rotate',
    });
    await client.connect();
    try {
      await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.masterKey]);
      output.result(await rotate(client, settings, isRunning, output.say));
    } finally {
      await client.end();
    }
  });
  return 0;
}

/** As `--json` prints it. `is_replaced`: the database uses the next key. */
interface RotationResult {
  readonly is_replaced: boolean;
  readonly organizations: number;
}

/** The next key is in `secrets.json`, and synced to the disk, before anything is sealed with it. */
async function rotate(
  client: Client,
  settings: Settings,
  isRunning: boolean,
  notice: (text: string) => void,
): Promise<RotationResult> {
  const secrets = await resolveSecrets(settings);
  const next = await nextKey(settings, secrets, isRunning, notice);
  if (next === null) return { is_replaced: false, organizations: 0 };
  const organizations = await replaceMasterKey(client, { present: secrets.masterKey, next });
  if (!settings.masterKey) await settleMasterKey(settings.dataDir, next);
  notice(
    organizations === null
      ? 'The database already uses this master key.'
      : `The master key was replaced. Organization keys re-encrypted with it: ${organizations}.`,
  );
  notice(settings.masterKey ? AFTER_SETTINGS : AFTER_FILE);
  return { is_replaced: true, organizations: organizations ?? 0 };
}

/** Null when nothing is left to do, or the service must be restarted before anything is resealed. */
async function nextKey(
  settings: Settings,
  { masterKey: present, nextMasterKey: next }: InstanceSecrets,
  isRunning: boolean,
  notice: (text: string) => void,
): Promise<Secret | null> {
  const { dataDir, masterKey } = settings;
  if (next) {
    if (isRunning && !(await runsWithNextKey(dataDir, next))) throw new LauncherError(NOT_STARTED_WITH_IT);
    return next;
  }
  if (masterKey) throw new LauncherError(NO_NEXT_KEY);
  if (isRunning && (await runsWithNextKey(dataDir, present))) {
    notice(DONE);
    return null;
  }
  const made = await proposeMasterKey(dataDir);
  if (!isRunning) return made;
  notice(
    'secrets.json in the data folder now has a next master key. Restart the service, then run this command again.',
  );
  return null;
}

const NO_NEXT_KEY =
  'There is no next master key. Set GATEHOUSE_NEXT_MASTER_KEY ("openssl rand -base64 32" makes one) to every instance, restart each, then run this command again.';
const NOT_STARTED_WITH_IT =
  'The service on this data folder was started without the next master key. Restart it, then run this command again.';
const AFTER_SETTINGS =
  'Now set it as GATEHOUSE_MASTER_KEY on every instance, unset GATEHOUSE_NEXT_MASTER_KEY, and restart each. The former key is no longer needed.';
/** For a service that was started for a rotation which has since ended: its next key is now the current one. */
const DONE =
  'The master key was replaced. Back up secrets.json. To replace it again, restart the service first.';
const AFTER_FILE =
  'secrets.json in the data folder has only the new key. Back it up; the former key is no longer needed.';
