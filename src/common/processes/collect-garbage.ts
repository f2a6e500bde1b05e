import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

let known: Collect | null = null;

/** V8's own collector, which is only exposed by a start option. */
function collector(): Collect {
  if (known) return known;
  setFlagsFromString('--expose-gc');
  known = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return known;
}

/**
 * Runs one full garbage collection. Loading the code of a process leaves tens of megabytes of garbage, which V8 would keep until its heap
 * has grown by as much again; after this the heap starts at its real size.
 */
export function collectGarbage(): void {
  collector()();
}

/** Bytes between two collections. */
const YOUNG_BYTES = 8 * 1024 * 1024;
let passedBytes = 0;

/**
 * Call it with the size of each chunk of a large body. Node reads sockets in chunks of 64 KiB outside V8's heap. The few hundred bytes on
 * the heap that refer to a chunk make V8 collect only after half a gigabyte, or tens of megabytes held in memory. They are young and dead,
 * so a minor collection, which takes a millisecond, frees them.
 */
export function passedLarge(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < YOUNG_BYTES) return;
  passedBytes = 0;
  collector()({ type: 'minor' });
}
