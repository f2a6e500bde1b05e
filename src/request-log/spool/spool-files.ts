import { type Dirent, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '../../common/ids/uuid-v7.js';

/**
 * Names within the spool folder. One folder per writer, that is per gateway process and start:
 *
 *   <writer id>/owner.json     the writer; its modification time is the heartbeat
 *   <writer id>/00000001.seg   frames; only the segment with the highest number is written to
 *   <writer id>/reserve        disk space allocated in advance for when the disk is full
 *   <writer id>/00000001.spare a processed segment, kept to be reused under a new number
 *   <writer id>/ended          the writer closed cleanly
 *   <writer id>/00000003.open  written by the shipper: open exchanges from deleted segments up to 3
 *   damaged/                   damaged segments, for an operator to examine
 */
export const OWNER_FILE = 'owner.json';
export const RESERVE_FILE = 'reserve';
export const ENDED_FILE = 'ended';

const SEGMENT = /^(\d{8,})\.seg$/;
const SPARE = /^(\d{8,})\.spare$/;
const OPEN_EXCHANGES = /^(\d{8,})\.open$/;

/** A position in a writer's spool: everything before it is stored. */
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

/** Numbers of the existing segments, ascending. */
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
 * Maximum number of spare segments kept for reuse. Writing a page that the kernel already has costs a fraction of writing a new one, which
 * has to be allocated, and on a virtual machine often from the host. 64 MiB for a busy process; a less busy one keeps none, because only
 * full segments are kept, and the writer deletes those it does not need soon.
 */
const SPARES_MAX = 4;
const SPARE_BYTES_MIN = 8 * 1024 * 1024;

/** Removes a processed segment from the spool. A full one is kept for reuse. */
export function retireSegment(folder: string, segment: number): void {
  const path = segmentPath(folder, segment);
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes < SPARE_BYTES_MIN || listSpares(folder).length >= SPARES_MAX) return removeFile(path);
  try {
    renameSync(path, sparePath(folder, segment));
  } catch (error) {
    // Another shipper was first.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Files ready for reuse. */
export function sparesIn(folder: string): string[] {
  return listSpares(folder).map((number) => sparePath(folder, number));
}

/** Deletes spares last written before `since`, so that old data does not stay for long. */
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

/** Ids of the writers that have a folder in the spool. Files are ignored. */
export function listWriters(spool: string): string[] {
  return entries(spool)
    .filter((entry) => entry.isDirectory() && isUuid(entry.name))
    .map(({ name }) => name);
}

/** Bytes in the segments of all writers. Unreadable files are not counted. */
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

/** A missing folder counts as empty: another process may just have removed it. */
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
