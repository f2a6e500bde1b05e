import { open, rename } from 'node:fs/promises';
import { encodeOpened, seal, type StoredFrame } from '../../request-log/spool/frame.js';
import { idOfOpened, readOpened } from '../../request-log/spool/frame-values.js';
import { readSegment } from '../../request-log/spool/segment-reader.js';
import { listOpenExchanges, openExchangesPath, removeFile } from '../../request-log/spool/spool-files.js';

/** An exchange that began and has not ended. The JSON is a copy of its own, so that it pins no buffer it was read in. */
export interface OpenExchange {
  readonly id: string;
  readonly json: Buffer;
}

export function openExchangeOf({ json }: StoredFrame): OpenExchange {
  return { id: idOfOpened(json), json: Buffer.from(json) };
}

/**
 * Writes down which exchanges were still open when segments up to `upTo` were deleted, so that a stream of half an
 * hour does not keep half an hour of spool. Durable before it returns. Of two such files only the one with the higher
 * number counts, so a shipper that wakes up late and writes an old one does no harm.
 */
export async function keepOpenExchanges(
  folder: string,
  upTo: number,
  exchanges: Iterable<OpenExchange>,
): Promise<void> {
  const path = openExchangesPath(folder, upTo);
  const draft = `${path}.${process.pid}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    const frames = [...exchanges].map(({ json }) => {
      const frame = encodeOpened(readOpened(json));
      seal(frame, upTo);
      return frame.head;
    });
    await file.writeFile(Buffer.concat(frames));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(folder);
}

/** The exchanges that were open when the last segments were deleted. */
export async function readOpenExchanges(folder: string): Promise<OpenExchange[]> {
  const segment = listOpenExchanges(folder).at(-1);
  if (segment === undefined) return [];
  const found: OpenExchange[] = [];
  for (let offset = 0; ;) {
    const look = await readSegment(openExchangesPath(folder, segment), { segment, offset }, true);
    found.push(...look.frames.map(({ frame }) => openExchangeOf(frame)));
    if (look.status !== 'more') return found;
    offset = look.next;
  }
}

/** Deletes the files of open exchanges with lower numbers than `before`. */
export function forgetOpenExchanges(folder: string, before: number): void {
  for (const number of listOpenExchanges(folder))
    if (number < before) removeFile(openExchangesPath(folder, number));
}

/** A rename is durable only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
