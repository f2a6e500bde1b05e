import { sleep } from './waiting.js';

/** One request as its client saw it. Whoever judged it did so between the two moments, milliseconds of `performance.now`. */
export interface Asked {
  readonly sentAt: number;
  readonly answeredAt: number;
  /** 0 where no answer came. */
  readonly status: number;
}

interface Load {
  readonly perSecond: number;
  readonly forMs: number;
  /** Sends the request of that number and answers its status. */
  readonly send: (at: number) => Promise<number>;
}

const LOOK_EVERY_MS = 1;

/**
 * Sends at a fixed pace, whatever the answers. A sender that falls behind catches up, so that all are sent; `sentAt` says
 * when that was, and what is expected of a limit is computed from there.
 */
export async function steadyLoad({ perSecond, forMs, send }: Load): Promise<readonly Asked[]> {
  const began = performance.now();
  const asked: Promise<Asked>[] = [];
  const total = Math.floor((perSecond * forMs) / 1_000);
  while (asked.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1_000) + 1);
    while (asked.length < due) asked.push(timed(send, asked.length));
    await sleep(LOOK_EVERY_MS);
  }
  return Promise.all(asked);
}

async function timed(send: Load['send'], at: number): Promise<Asked> {
  const sentAt = performance.now();
  const status = await send(at).catch(() => 0);
  return { sentAt, answeredAt: performance.now(), status };
}

/** How many a window that slides without steps would admit of requests that are judged at these moments, in order. */
export function admittedByWindow(moments: readonly number[], limit: number, windowMs: number): number {
  const admitted: number[] = [];
  for (const moment of moments) {
    const before = admitted[admitted.length - limit];
    if (before === undefined || before <= moment - windowMs) admitted.push(moment);
  }
  return admitted.length;
}

/** The most that were certainly judged within any stretch of that length: sent and answered in it. */
export function mostWithin(asked: readonly Asked[], lengthMs: number): number {
  const ends = asked.map(({ answeredAt }) => answeredAt).sort((one, other) => one - other);
  let most = 0;
  for (const end of ends) {
    const within = asked.filter(
      ({ sentAt, answeredAt }) => sentAt >= end - lengthMs && answeredAt <= end,
    ).length;
    most = Math.max(most, within);
  }
  return most;
}

/** The share, 0 to 1, that waited longer than this for its answer: what the service was not able to do at once. */
export function shareSlowerThan(asked: readonly Asked[], ms: number): number {
  return asked.filter(({ sentAt, answeredAt }) => answeredAt - sentAt > ms).length / asked.length;
}

/** The fewest that were sent in any of the whole seconds: what the sender was really able to do. */
export function fewestPerSecond(asked: readonly Asked[]): number {
  const [first] = asked;
  const last = asked.at(-1);
  if (!first || !last) return 0;
  const seconds = Math.floor((last.sentAt - first.sentAt) / 1_000);
  const counts = Array.from<number>({ length: seconds }).fill(0);
  for (const { sentAt } of asked) {
    const second = Math.floor((sentAt - first.sentAt) / 1_000);
    if (second < seconds) counts[second] = (counts[second] ?? 0) + 1;
  }
  return Math.min(...counts);
}
