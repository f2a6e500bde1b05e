import { existsSync } from 'node:fs';
import { availableParallelism, freemem, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { writeAtomically } from '../../common/files/write-atomically.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { VERSION } from '../../common/version.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { withRunningDatabase } from '../database/with-database.js';
import { checkedEnvironment } from '../doctor/checked-environment.js';
import { examine } from '../doctor/doctor.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { type DatabasePart, databasePart } from './database-part.js';
import { logPart } from './log-part.js';
import { BundleRedactor } from './redactor.js';
import { servicePart, spoolPart } from './service-part.js';
import { settingsPart } from './settings-part.js';

export interface SupportBundleOptions extends JsonOption {
  /** The file to write. It must not exist. */
  readonly to?: string;
  /** A file with the log of the service, or `-` for standard input. */
  readonly log?: string;
}

/** A file of the bundle. */
interface BundleFile {
  readonly name: string;
  readonly text: string;
}

/**
 * `gatehouse support-bundle`. Returns the exit code. What cannot be read is named in the bundle with the reason; the rest is written all
 * the same, because a bundle is wanted when something is broken.
 */
export async function supportBundleCommand(
  shell: NodeJS.ProcessEnv,
  options: SupportBundleOptions,
): Promise<number> {
  const path = resolve(options.to ?? `gatehouse-support-${stamp(new Date())}.tar.gz`);
  if (existsSync(path)) throw new LauncherError(`${path} exists already. Name a file that does not.`);
  const output = new CommandOutput(options);
  const { environment, port } = await checkedEnvironment(shell, false);
  const redactor = new BundleRedactor({ ...shell, ...environment });
  const files = [
    jsonFile('bundle.json', machinePart()),
    jsonFile('settings.json', settingsPart(environment)),
    await doctorFile(shell, redactor),
    ...(await filesOfInstance(environment, port, redactor)),
    ...(options.log === undefined ? [] : await filesOfLog(options.log, redactor)),
  ];
  await writeAtomically(path, archiveOf(files));
  const names = files.map(({ name }) => name);
  output.say(
    `${path}: ${names.join(', ')}. It holds no secrets, bodies or mail addresses; look through it before you send it.`,
  );
  output.result({ file: path, contents: names });
  return 0;
}

/** Such as 20300131-235959, in UTC. */
const stamp = (at: Date): string =>
  at
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-');

const jsonFile = (name: string, content: object): BundleFile => ({
  name,
  text: `${JSON.stringify(content, null, 1)}\n`,
});

const machinePart = () => ({
  created_at: new Date().toISOString(),
  version: VERSION,
  node: process.version,
  platform: `${process.platform} ${process.arch} ${release()}`,
  cores: availableParallelism(),
  memory_bytes: totalmem(),
  free_memory_bytes: freemem(),
});

async function doctorFile(shell: NodeJS.ProcessEnv, redactor: BundleRedactor): Promise<BundleFile> {
  const lines: string[] = [];
  for await (const { detail, todo, ...finding } of examine(shell))
    lines.push(JSON.stringify({ ...finding, detail: redactor.known(detail), todo: redactor.known(todo) }));
  return { name: 'doctor.jsonl', text: `${lines.join('\n')}\n` };
}

async function filesOfInstance(
  environment: NodeJS.ProcessEnv,
  port: number | null,
  redactor: BundleRedactor,
): Promise<BundleFile[]> {
  const settings = await settled(() => loadSettings(environment), redactor);
  if ('error' in settings) return [jsonFile('instance.json', settings)];
  const files = [
    jsonFile('database.json', await settled(() => readDatabase(settings), redactor)),
    jsonFile('spool.json', await settled(() => spoolPart(settings), redactor)),
  ];
  if (port === null) return [...files, jsonFile('service.json', { is_running: false })];
  const service = await settled(() => servicePart(settings, port), redactor);
  if ('error' in service) return [...files, jsonFile('service.json', service)];
  return [
    ...files,
    { name: 'readiness.json', text: redactor.known(service.readiness) },
    { name: 'metrics.txt', text: redactor.known(service.metrics) },
  ];
}

async function readDatabase(settings: Settings): Promise<DatabasePart> {
  return withRunningDatabase(settings, async (url) => {
    const client = postgresClient('background', {
      connectionString: url.reveal(),
      application_name: 'gatehouse support-bundle',
    });
    try {
      await client.connect();
      return await databasePart(client);
    } finally {
      // Not awaited: after a connection that the server refused, pg's `end` may never settle.
      void client.end().catch(() => undefined);
    }
  });
}

async function filesOfLog(file: string, redactor: BundleRedactor): Promise<BundleFile[]> {
  const log = await settled(() => logPart(file, redactor), redactor);
  if ('error' in log) return [jsonFile('log.json', log)];
  const note = JSON.stringify({ lines_without_json_left_out: log.left_out });
  return [{ name: 'log.jsonl', text: `${[...log.lines, note].join('\n')}\n` }];
}

interface Unavailable {
  readonly error: string;
}

/** The part, or why it could not be read. */
async function settled<T extends object>(
  work: () => T | Promise<T>,
  redactor: BundleRedactor,
): Promise<T | Unavailable> {
  try {
    return await work();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { error: redactor.foreign(message || code) };
  }
}

function archiveOf(files: readonly BundleFile[]): AsyncIterable<Buffer> {
  const archive = pack();
  for (const { name, text } of files) archive.entry({ name, mode: 0o600 }, text);
  archive.finalize();
  return archive.pipe(createGzip());
}
