import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeAtomically } from '../common/files/write-atomically.js';
import { settingsSchema } from '../common/settings/settings-schema.js';
import { SECRET_SETTINGS } from '../common/settings/settings.js';
import { pathsOf } from './data-folder.js';

/** Read by packages or by Node itself, and not part of the schema. */
const FURTHER = /^(OTEL_EXPORTER_OTLP_|OTEL_RESOURCE_ATTRIBUTES$|NODE_EXTRA_CA_CERTS$)/;
/** May hold a token: https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables */
const SECRET_HEADERS = /^OTEL_EXPORTER_OTLP_(\w+_)?HEADERS$/;
const NAMES_A_FILE = /(_FILE|_DIR|_SOCKET|^NODE_EXTRA_CA_CERTS)$/;
/** Used once, before the service runs. */
const FIRST_START = /^GATEHOUSE_INIT_OWNER_/;

const isSecret = (name: string): boolean =>
  (SECRET_SETTINGS as readonly string[]).includes(name) || SECRET_HEADERS.test(name);

export const isSetting = (name: string): boolean =>
  !FIRST_START.test(name) &&
  (name in settingsSchema.shape ||
    FURTHER.test(name) ||
    SECRET_SETTINGS.some((secret) => name === `${secret}_FILE`));

const pathOf = (dataDir: string): string => join(pathsOf(dataDir).run, 'settings.json');

/**
 * Saves the settings of this instance, so that `gatehouse doctor` checks them instead of the settings of its shell. Secrets are
 * left out: only their names are saved. The file is deleted with the folder `run` when the instance stops.
 */
export async function writeRunningSettings(
  dataDir: string,
  port: number,
  environment: ProcessEnvironment,
): Promise<void> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] => Boolean(entry[1]) && isSetting(entry[0]),
  );
  const content: RunningSettings = {
    port,
    settings: Object.fromEntries(
      entries
        .filter(([name]) => !isSecret(name))
        .map(([name, value]) => [name, NAMES_A_FILE.test(name) ? resolve(value) : value]),
    ),
    secrets: entries.map(([name]) => name).filter(isSecret),
  };
  await mkdir(pathsOf(dataDir).run, { recursive: true, mode: 0o700 });
  await writeAtomically(pathOf(dataDir), `${JSON.stringify(content, null, 2)}\n`);
}

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export interface RunningSettings {
  /** On which the instance listens. */
  readonly port: number;
  /** Variables of the environment by name. Paths are absolute. */
  readonly settings: Readonly<Record<string, string>>;
  /** Names of the variables that hold a secret. */
  readonly secrets: readonly string[];
}

/** Null if there are none: no instance runs on this data folder, or it is of an older release. */
export async function readRunningSettings(dataDir: string): Promise<RunningSettings | null> {
  try {
    return JSON.parse(await readFile(pathOf(dataDir), 'utf8')) as RunningSettings;
  } catch {
    return null;
  }
}
