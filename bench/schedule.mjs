/** The order of the slots: contenders take turns within each round, so that noise of the machine affects all of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FRAME_INTERVAL_MS, FRAMES } from './stream-shape.mjs';
import { residentMib } from './proc.mjs';
import { chatRequest } from './request-bytes.mjs';
import { runSlot, watchMemory } from './slot.mjs';

const STREAM_MS = FRAMES * FRAME_INTERVAL_MS;

/** The load generator's job in one slot of each measure. */
const JOBS = {
  throughput: (options) => ({ kind: 'closed', concurrency: 64, seconds: options.seconds }),
  latency: (options) => ({ kind: 'closed', concurrency: 1, seconds: options.latencySeconds }),
  streams: (options) => ({
    kind: 'streams',
    streams: 64,
    turns: options.streamTurns,
    spreadMs: STREAM_MS,
    frames: FRAMES,
  }),
  'many-streams': (options) => ({
    kind: 'streams',
    streams: 512,
    turns: options.streamTurns,
    spreadMs: 2 * STREAM_MS,
    frames: FRAMES,
  }),
};

const ROUNDS_OF = {
  throughput: 'rounds',
  latency: 'rounds',
  streams: 'streamRounds',
  'many-streams': 'streamRounds',
};

/** Everything about one contender that the report needs. */
export class Track {
  slots = { throughput: [], latency: [], streams: [], 'many-streams': [] };
  failure = null;
  restMib = null;
  level = null;
  sent = 0;

  constructor(contender) {
    this.contender = contender;
    this.name = contender.name;
  }
}

export async function runSchedule(bench, tracks, options) {
  for (const track of tracks) await warmUp(bench, track, options);
  for (const measure of options.measures)
    for (let round = 0; round < options[ROUNDS_OF[measure]]; round += 1)
      await oneRound(bench, inTurn(tracks, round), { measure, options });
}

/**
 * Every other round runs in reverse: later slots of a round find a machine that was just used, which would always affect the same
 * contenders.
 */
const inTurn = (tracks, round) => (round % 2 === 0 ? tracks : tracks.toReversed());

async function oneRound(bench, tracks, { measure, options }) {
  for (const track of tracks) if (!track.failure) await oneSlot(bench, track, { measure, options });
}

/** A smaller gain than this within a second means that compiling has ended; twice in a row confirms it. */
const STILL_WARMING = 0.95;
const UNCHANGED_SECONDS = 2;

/**
 * A cold process needs several times the CPU time of a warm one, and slower contenders stay cold for longer. So this lasts until the CPU
 * time per request has stopped falling, not for a fixed time.
 */
async function warmUp(bench, track, options) {
  track.restMib = residentMib(track.contender.gatewayPids());
  let best = Number.POSITIVE_INFINITY;
  let unchanged = 0;
  for (let second = 0; second < options.warmUpSeconds && unchanged < UNCHANGED_SECONDS; second += 1) {
    const slot = await attempt(bench, track, { kind: 'closed', concurrency: 64, seconds: 1, settle: false });
    if (!slot) return;
    unchanged = slot.cpuUsPerUnit > best * STILL_WARMING ? unchanged + 1 : 0;
    best = Math.min(best, slot.cpuUsPerUnit);
  }
  if (options.measures.has('streams') || options.measures.has('many-streams'))
    await attempt(bench, track, { ...JOBS.streams(options), streams: 32, turns: 1, spreadMs: 100 });
}

async function oneSlot(bench, track, { measure, options }) {
  const slot = await attempt(bench, track, JOBS[measure](options));
  if (!slot) return;
  track.slots[measure].push(slot);
  console.error(`bench: ${measure.padEnd(12)} ${track.name.padEnd(11)} ${brief(slot)}`);
}

function brief(slot) {
  const noise =
    slot.foreignBusy === null ? '' : `, others on its core ${(slot.foreignBusy * 100).toFixed(0)} %`;
  const figures = slot.requestsPerSecond
    ? `${slot.requestsPerSecond.toFixed(0)} requests/s, p50 ${slot.latency.p50.toFixed(0)} µs, p99 ${slot.latency.p99.toFixed(0)} µs`
    : `${slot.withoutStall}/${slot.streams} streams, first token p99 ${slot.ttft.p99.toFixed(0)} µs, delay p99 ${slot.delay.p99.toFixed(0)} µs`;
  return `${figures}, ${slot.cpuUsPerUnit.toFixed(0)} µs CPU${noise}`;
}

/** Runs one job. A contender with wrong responses is reported with its errors and measured no further. */
async function attempt(bench, track, job) {
  const { contender } = track;
  const request = chatRequest(contender.port, contender.headers, { stream: job.kind === 'streams' });
  try {
    const slot = await runSlot(bench, contender, { ...job, request });
    track.sent += slot.requests ?? slot.streams;
    if (slot.errors > 0 && job.kind === 'closed')
      return fail(track, `${slot.errors} errors: ${JSON.stringify(slot.problems)}`);
    return slot;
  } catch (error) {
    return fail(track, error.message);
  }
}

function fail(track, reason) {
  track.failure = reason;
  console.error(`bench: ${track.name} FAILED: ${reason}`);
  return undefined;
}

/** For about this many requests per second in the level check: 64 connections that pause between requests. */
const STEADY_PAUSE_MS = 64;

/** Minutes of steady load, to detect memory growth. Thirds are compared, so that warming up does not count. */
export async function checkLevel(bench, track, minutes) {
  const memory = watchMemory(track.contender.gatewayPids(), 1000);
  const seconds = minutes * 60;
  const slot = await attempt(bench, track, {
    kind: 'closed',
    concurrency: 64,
    seconds,
    pauseMs: STEADY_PAUSE_MS,
  });
  memory.stop();
  if (!slot) return;
  await sleep(100);
  const third = Math.floor(memory.samples.length / 3);
  const middle = median(memory.samples.slice(third, 2 * third));
  const last = median(memory.samples.slice(2 * third));
  track.level = {
    minutes,
    requests: slot.requests,
    middleMib: middle,
    lastMib: last,
    growthMibPerHour: ((last - middle) / (minutes / 3)) * 60,
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
