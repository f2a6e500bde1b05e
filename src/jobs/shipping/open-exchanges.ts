import { open, rename } from 'node:fs/promises';
import { encodeOpened, sealFrame, type StoredFrame } from '../../request-log/spool/frame.js';
import { idOfOpened, readOpened } from '../../request-log/spool/frame-values.js';
import { readSegment } from '../../request-log/spool/segment-reader.js';
import { listOpenExchanges, openExchangesPath, removeFile } from '../../request-log/spool/spool-files.js';

/** An exchange that has not ended. The JSON is a copy, so that it does not keep its read buffer alive. */
export interface OpenExchange {
  readonly id: string;
  readonly json: Buffer;
}

export function openExchangeOf({ json }: StoredFrame): OpenExchange {
  return { id: idOfOpened(json), json: Buffer.from(json) };
}

/**
 * Records which exchanges were still open when segments up to `upTo` were deleted, so that a half-hour stream does not retain half an hour
 * of spool. Durable before it returns. Only the file with the highest number counts, so a delayed shipper that writes an old one does no
 * harm.
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
      sealFrame(frame, upTo);
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

/** Deletes the files of open exchanges numbered below `before`. */
export function forgetOpenExchanges(folder: string, before: number): void {
  for (const number of listOpenExchanges(folder))
    if (number < before) removeFile(openExchangesPath(folder, number));
}

/** A rename is durable only once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
