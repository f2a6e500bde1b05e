import { type Dirent, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '../../common/ids/uuid-v7.js';

/**
 * Names within the spool folder. One folder per writer, that is per gateway process and start:
 *
 *   <writer id>/owner.json     who writes here; its time of change is the heartbeat
 *   <writer id>/00000001.seg   frames, one after the other; only the highest number is written to
 *   <writer id>/reserve        space taken in advance for when the disk is full
 *   <writer id>/00000001.spare a segment that is done with, kept to be written again under a new number
 *   <writer id>/ended          the writer closed in order
 *   <writer id>/00000003.open  kept by the shipper: exchanges still open that began in deleted segments up to 3
 *   damaged/                   segments in which the shipper found damage, for an operator to look at
 */
export const OWNER_FILE = 'owner.json';
export const RESERVE_FILE = 'reserve';
export const ENDED_FILE = 'ended';

const SEGMENT = /^(\d{8,})\.seg$/;
const SPARE = /^(\d{8,})\.spare$/;
const OPEN_EXCHANGES = /^(\d{8,})\.open$/;

/** A place in a writer's spool: everything before it is stored. */
export interface SpoolPosition {
  readonly segment: number;
  readonly offset: number;
}

export function segmentPath(folder: string, segment: number): string {
  return join(folder, `${numbered(segment)}.seg`);
}

export function openExchangesPath(folder: string, upTo: number): string {
  return join(folder, `${numbered(upTo)}.open`);
}

function numbered(number: number): string {
  return String(number).padStart(8, '0');
}

/** Numbers of the segments that exist, ascending. */
export function listSegments(folder: string): number[] {
  return listNumbers(folder, SEGMENT);
}

/** Numbers of the files of open exchanges, ascending. */
export function listOpenExchanges(folder: string): number[] {
  return listNumbers(folder, OPEN_EXCHANGES);
}

function listNumbers(folder: string, pattern: RegExp): number[] {
  return names(folder)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * Segments that a writer gets back instead of new files. Writing a page that the kernel already has costs a fraction of
 * writing a new one, which must be found, and on a virtual machine often be asked of the host. 64 MiB for a busy
 * process; one that has less to do has none, because only full segments are kept, and their writer gives up those it does not need soon.
 */
const SPARES_MAX = 4;
const SPARE_BYTES_MIN = 8 * 1024 * 1024;

/** Takes a segment that is done with out of the spool. A full one is kept to be written again. */
export function retireSegment(folder: string, segment: number): void {
  const path = segmentPath(folder, segment);
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes < SPARE_BYTES_MIN || listSpares(folder).length >= SPARES_MAX) return removeFile(path);
  try {
    renameSync(path, sparePath(folder, segment));
  } catch (error) {
    // Another shipper was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Files that are ready to be written again. */
export function sparesIn(folder: string): string[] {
  return listSpares(folder).map((number) => sparePath(folder, number));
}

/** Deletes those whose last write was before `since`: what they still hold is not to lie here for long. */
export function dropSpares(folder: string, since = Number.POSITIVE_INFINITY): void {
  for (const spare of sparesIn(folder)) {
    const writtenAt = statSync(spare, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (writtenAt < since) removeFile(spare);
  }
}

function listSpares(folder: string): number[] {
  return listNumbers(folder, SPARE);
}

function sparePath(folder: string, segment: number): string {
  return join(folder, `${numbered(segment)}.spare`);
}

/** Ids of the writers that have a folder in the spool. A file with such a name is none. */
export function listWriters(spool: string): string[] {
  return entries(spool)
    .filter((entry) => entry.isDirectory() && isUuid(entry.name))
    .map(({ name }) => name);
}

/** Bytes in the segments of all writers. What cannot be read counts for nothing. */
export function pendingBytesIn(spool: string): number {
  let bytes = 0;
  for (const writer of readable(() => listWriters(spool))) {
    const folder = join(spool, writer);
    for (const segment of readable(() => listSegments(folder)))
      bytes += statSync(segmentPath(folder, segment), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function readable<T>(list: () => T[]): T[] {
  try {
    return list();
  } catch {
    return [];
  }
}

function names(folder: string): string[] {
  return entries(folder).map(({ name }) => name);
}

/** A folder that is gone holds nothing: another process may have removed it a moment ago. */
function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
