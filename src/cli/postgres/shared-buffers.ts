import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

const MIB = 1024 * 1024;
/** What PostgreSQL takes by itself, and enough for any table that few look at. */
const LEAST_MIB = 128;
const MOST_MIB = 2_048;
/** PostgreSQL's manual advises a quarter where it has the machine to itself. Here it shares it with everything else. */
const SHARE = 1 / 16;

/**
 * How much of a machine's memory the embedded server keeps rows in, MiB. The system keeps them, too, in what nobody needs, but
 * it gives that away whenever it likes, and each of them is then read from the disk among the commits.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
export function sharedBuffersMiB(memoryBytes: number): number {
  return Math.min(MOST_MIB, Math.max(LEAST_MIB, Math.floor((memoryBytes * SHARE) / MIB)));
}

/** Bytes that this process may use: those of the machine, or of the container that it is in. */
export function memoryOfMachine(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
