import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

const MIB = 1024 * 1024;
/** PostgreSQL's default, and enough for small tables. */
const LEAST_MIB = 128;
const MOST_MIB = 2_048;
/** PostgreSQL's manual recommends a quarter of a dedicated machine. Here it shares the machine. */
const SHARE = 1 / 16;

/**
 * How much of a machine's memory the embedded server uses to cache rows, MiB. The system's page cache holds them too but can evict them at
 * any time, and each is then read from the disk between commits.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
export function sharedBuffersMiB(memoryBytes: number): number {
  return Math.min(MOST_MIB, Math.max(LEAST_MIB, Math.floor((memoryBytes * SHARE) / MIB)));
}

/** Bytes that this process may use: those of the machine, or of its container. */
export function memoryOfMachine(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
