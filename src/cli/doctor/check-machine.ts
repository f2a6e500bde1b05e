import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../common/settings/settings.js';
import { openDataFolder, pathsOf } from '../data-folder.js';
import { findPort } from '../processes/free-port.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';
import { isAtLeast } from './is-at-least.js';

const NODE_MINIMUM = [20, 19] as const;
const GIB = 1024 ** 3;
const SPACE_NEEDED = GIB / 2;
const SPACE_WANTED = 5 * GIB;

export function checkNode(version: string): DoctorFinding {
  if (isAtLeast(version, NODE_MINIMUM)) return ok('Node.js', version);
  return failed('Node.js', version, `Install Node.js ${NODE_MINIMUM.join('.')} or newer.`);
}

export async function checkDataFolder(dataDir: string): Promise<DoctorFinding> {
  try {
    await openDataFolder(dataDir);
    return judgeSpace('Data folder', dataDir, await freeBytes(dataDir));
  } catch (error) {
    return failed('Data folder', dataDir, errorText(error));
  }
}

/** Folders that may be on another disk than the data folder; no findings for those on the same disk. */
export async function checkFurtherFolders({ dataDir, exports }: Settings): Promise<DoctorFinding[]> {
  const folders = [
    ['Spool', join(dataDir, 'spool')],
    ['Database folder', pathsOf(dataDir).postgres],
    ['Export folder', exports.folder],
  ] as const;
  const { dev } = await stat(dataDir);
  const findings: DoctorFinding[] = [];
  for (const [name, folder] of folders)
    if (existsSync(folder) && (await stat(folder)).dev !== dev)
      findings.push(judgeSpace(name, folder, await freeBytes(folder)));
  return findings;
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export function judgeSpace(name: string, folder: string, free: number): DoctorFinding {
  const detail = `${folder}, ${(free / GIB).toFixed(1)} GiB free`;
  if (free < SPACE_NEEDED) return failed(name, detail, 'Free some space: request logs need it.');
  if (free < SPACE_WANTED) return warning(name, detail, 'Less than 5 GiB is little for request logs.');
  return ok(name, detail);
}

/** Secrets generated on a machine are fine there, and wrong once a second instance shares the database. */
export function checkSecrets({ masterKey, keyPepper, databaseUrl, dataDir }: Settings): DoctorFinding {
  if (masterKey && keyPepper) return ok('Secrets', 'given in the settings');
  const kept = existsSync(pathsOf(dataDir).secrets);
  const detail = kept ? `in ${pathsOf(dataDir).secrets}` : 'are made on the first start';
  if (!databaseUrl) return ok('Secrets', detail);
  return warning(
    'Secrets',
    detail,
    'Every instance on one database needs the same secrets. Set GATEHOUSE_MASTER_KEY and GATEHOUSE_KEY_PEPPER.',
  );
}

/** `running`: the data folder is in use, so its service is the one that has the port. */
export async function checkPort({ host, port }: Settings, running: boolean): Promise<DoctorFinding> {
  const place = `${host}:${port}`;
  if (running) return ok('Port', `${place}, the service runs`);
  try {
    await findPort(host, port);
    return ok('Port', `${place} is free`);
  } catch (error) {
    return failed('Port', place, errorText(error));
  }
}
