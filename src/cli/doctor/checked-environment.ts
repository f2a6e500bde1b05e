import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { settingsSchema } from '../../common/settings/settings-schema.js';
import { pathsOf } from '../data-folder.js';
import { FolderLock } from '../folder/folder-lock.js';
import { isSetting, readRunningSettings, type RunningSettings } from '../running-settings.js';
import { type DoctorFinding, ok, warning } from './finding.js';

/** The settings that `doctor` checks, as environment variables. */
export interface CheckedEnvironment {
  readonly environment: NodeJS.ProcessEnv;
  /** Null when no instance runs on the data folder. */
  readonly port: number | null;
  readonly isRunning: boolean;
  readonly findings: readonly DoctorFinding[];
  /** Names of checks that need a secret which only the instance has. */
  readonly skipped: ReadonlySet<string>;
}

/** Secrets required by checks, with the settings that are invalid without them. */
const NEEDED_SECRETS: Readonly<
  Record<string, { readonly check: string; readonly without: readonly string[] }>
> = {
  REDIS_URL: { check: 'Redis', without: [] },
  CLICKHOUSE_URL: { check: 'ClickHouse', without: ['CLICKHOUSE_CLUSTER', 'GATEHOUSE_POSTGRES_BODY_DAYS'] },
  GATEHOUSE_SMTP_URL: { check: 'Mail server', without: [] },
  GATEHOUSE_S3_SECRET_ACCESS_KEY: {
    check: 'Object storage',
    without: [
      'GATEHOUSE_S3_BUCKET',
      'GATEHOUSE_LOG_BODIES',
      'GATEHOUSE_EXPORT_STORE',
      'GATEHOUSE_SINK_S3',
      'GATEHOUSE_EXPORT_LIMIT_BYTES',
    ],
  },
  GATEHOUSE_SINK_WEBHOOK_SECRET: { check: 'Webhook', without: ['GATEHOUSE_SINK_WEBHOOK_URL'] },
};

/**
 * The settings of the instance running on this shell's data folder; the shell's own if none runs, or with `fromShell`. Secrets come from
 * the files that the instance passes to its processes, else from the shell.
 */
export async function checkedEnvironment(
  shell: NodeJS.ProcessEnv,
  fromShell: boolean,
): Promise<CheckedEnvironment> {
  const dataDir = resolve(
    settingsSchema.shape.GATEHOUSE_DATA_DIR.parse(shell['GATEHOUSE_DATA_DIR'] || undefined),
  );
  const isRunning = await FolderLock.isHeld(dataDir);
  const running = isRunning && !fromShell ? await readRunningSettings(dataDir) : null;
  if (running === null)
    return { environment: shell, port: null, isRunning, findings: [], skipped: new Set() };
  const { secrets, missing } = secretsOf(running, shell, dataDir);
  const needed = missing.flatMap((name) => ({ name, need: NEEDED_SECRETS[name] })).filter(({ need }) => need);
  const dropped = new Set(needed.flatMap(({ need }) => need?.without ?? []));
  const settings = Object.entries(running.settings).filter(([name]) => !dropped.has(name));
  return {
    environment: { ...Object.fromEntries(settings), ...runningAt(dataDir, running.port), ...secrets },
    port: running.port,
    isRunning,
    findings: [
      ...judgeShell(running, shell),
      ...needed.map(({ name, need }) => unchecked(need?.check ?? '', name)),
    ],
    skipped: new Set(needed.map(({ need }) => need?.check ?? '')),
  };
}

const runningAt = (dataDir: string, port: number) => ({
  GATEHOUSE_DATA_DIR: dataDir,
  GATEHOUSE_PORT: String(port),
});

/** The instance's secrets that this command can read, and the names of the others. */
function secretsOf(
  { secrets }: RunningSettings,
  shell: NodeJS.ProcessEnv,
  dataDir: string,
): { secrets: Record<string, string>; missing: string[] } {
  const readable: Record<string, string> = {};
  const missing: string[] = [];
  for (const name of secrets) {
    const handedOver = join(pathsOf(dataDir).run, name.toLowerCase());
    const [value, file] = [shell[name], shell[`${name}_FILE`]];
    if (existsSync(handedOver)) readable[`${name}_FILE`] = handedOver;
    else if (value) readable[name] = value;
    else if (file) readable[`${name}_FILE`] = file;
    else missing.push(name);
  }
  return { secrets: readable, missing };
}

/** Warns about settings in the shell that the instance does not have, because they do not affect it. */
function judgeShell({ settings, secrets }: RunningSettings, shell: NodeJS.ProcessEnv): DoctorFinding[] {
  const differing = Object.keys(shell).filter(
    (name) =>
      shell[name] &&
      name !== 'GATEHOUSE_DATA_DIR' &&
      (isSetting(name) || name.startsWith('GATEHOUSE_')) &&
      !secrets.includes(name.replace(/_FILE$/, '')) &&
      shell[name] !== settings[name] &&
      resolve(shell[name]) !== settings[name],
  );
  const source = 'those of the running instance';
  if (differing.length === 0) return [ok('Settings', source)];
  return [
    warning(
      'Settings',
      `${source}; this shell sets others: ${differing.sort().join(', ')}`,
      'Restart the instance with them, or unset them. "gatehouse doctor --from-shell" checks the settings of this shell.',
    ),
  ];
}

const unchecked = (check: string, name: string): DoctorFinding =>
  warning(
    check,
    `not checked: the instance has ${name}, and this shell does not`,
    `Set ${name} or ${name}_FILE for this command. The row "Service" shows what the instance finds.`,
  );
