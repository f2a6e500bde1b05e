/**
 * What one gateway process holds: memory of idle connections, slow streams without a stall, and memory and descriptors under steady load.
 *
 *   node bench/endurance.mjs [idle connections = 10000] [slow streams = 2000] [minutes of load = 10]
 *
 * Run `npm run build` first. It takes priority over other programs where it may. Everything runs on this machine and ends by itself. The upstream sends an event of a slow stream every half
 * second. A stall is a second without an event: the gateway added half a second. Exit code 1: a promise at the end is not kept.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask, firstMessage, start, stop, stopAll } from './children.mjs';
import { Connection } from './connection.mjs';
import { startGatehouse } from './contenders.mjs';
import { onCores, pinningFor } from './pinning.mjs';
import { takePriority } from './priority.mjs';
import { proportionalMib, residentMib } from './proc.mjs';
import { chatRequest } from './request-bytes.mjs';
import { FRAMES } from './stream-shape.mjs';

const [idle = 10_000, streams = 2_000, minutes = 10] = process.argv.slice(2).map(Number);
const INTERVAL_MS = 500;
const STALL_MS = 1_000;
const AT_ONCE = 50;
const SAMPLE_MS = 10_000;
const KIB_PER_CONNECTION = 20;
/** Resident memory is level if the last quarter of the time needs at most this much more than the second quarter. */
const LEVEL_SHARE = 1.05;
const LEVEL_DESCRIPTORS = 20;

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const pinning = pinningFor(1);
const env = { ...process.env, BENCH_FRAME_INTERVAL_MS: String(INTERVAL_MS) };
const run = (cores, file) =>
  start(onCores(pinning, cores, [process.execPath, here(file)]), { ipc: true, env });

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const descriptorsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** @param {import('./contenders.mjs').Contender} gatehouse */
async function measureIdle(gatehouse, load, gateway) {
  const request = Buffer.from(chatRequest(gatehouse.port, gatehouse.headers, { stream: false }), 'latin1');
  // Serving costs memory of its own: it has to be paid before the first reading.
  await measureOn(load, {
    kind: 'closed',
    port: gatehouse.port,
    request: request.toString('latin1'),
    concurrency: AT_ONCE,
    seconds: 20,
  });
  await sleep(2_000);
  const before = residentMib([gateway]);
  const connections = [];
  const openOne = async () => {
    const connection = await Connection.open(gatehouse.port);
    connections.push(connection);
    await new Promise((end, failed) =>
      connection.send(request, {
        head: () => {},
        body: () => {},
        end,
        failed: (reason) => failed(new Error(reason)),
      }),
    );
  };
  while (connections.length < idle) await Promise.all(Array.from({ length: AT_ONCE }, openOne));
  await sleep(2_000);
  const figures = {
    connections: connections.length,
    beforeMib: round(before),
    afterMib: round(residentMib([gateway])),
    descriptors: descriptorsOf(gateway),
  };
  for (const connection of connections) connection.close();
  return { ...figures, kibPerConnection: round(((figures.afterMib - before) * 1024) / connections.length) };
}

async function measureStreams(gatehouse, load, gateway) {
  const request = chatRequest(gatehouse.port, gatehouse.headers, { stream: true });
  const job = {
    kind: 'streams',
    port: gatehouse.port,
    request,
    streams,
    turns: 1,
    spreadMs: 10_000,
    frames: FRAMES,
    stallMs: STALL_MS,
  };
  const {
    streams: run_,
    complete,
    withoutStall,
    missingFrames,
    problems,
    ttft,
    delay,
    gap,
  } = await measureOn(load, job);
  return {
    streams: run_,
    complete,
    withoutStall,
    missingFrames,
    problems,
    firstEventMs: inMs(ttft),
    eventDelayMs: inMs(delay),
    betweenEventsMs: inMs(gap),
    residentMib: round(residentMib([gateway])),
  };
}

async function measureLevel(gatehouse, load, gateway) {
  const request = chatRequest(gatehouse.port, gatehouse.headers, { stream: false });
  const seconds = minutes * 60;
  const done = measureOn(load, {
    kind: 'closed',
    port: gatehouse.port,
    request,
    concurrency: 32,
    seconds,
    pauseMs: 100,
  });
  const rest = gatehouse.otherPids();
  const samples = [];
  let ended = false;
  void done.finally(() => (ended = true)).catch(() => undefined);
  while (!ended) {
    samples.push({
      gateway: residentMib([gateway]),
      rest: proportionalMib(rest),
      descriptors: descriptorsOf(gateway),
    });
    await Promise.race([sleep(SAMPLE_MS), done.catch(() => undefined)]);
  }
  const { requests, errors } = await done;
  const quarter = Math.floor(samples.length / 4);
  const partOf = (part) => {
    const taken = samples.slice(part * quarter, (part + 1) * quarter);
    const of = (name) => round(mean(taken.map((sample) => sample[name])));
    return { gatewayMib: of('gateway'), restMib: of('rest'), descriptors: of('descriptors') };
  };
  return { minutes, requests, errors, quarters: [0, 1, 2, 3].map(partOf) };
}

async function measureOn(load, job) {
  const { result, failure } = await ask(load, job);
  if (failure) throw new Error(failure);
  return result;
}

const round = (value) => Math.round(value * 10) / 10;
/** Microseconds in, milliseconds out. */
const inMs = ({ p50, p99, max }) => ({
  p50: round(p50 / 1_000),
  p99: round(p99 / 1_000),
  max: round(max / 1_000),
});

function promisesOf({ idle: idleFigures, slow, level }) {
  const [, second, , last] = level.quarters;
  return {
    [`an idle connection needs at most ${KIB_PER_CONNECTION} KiB`]:
      idleFigures.kibPerConnection <= KIB_PER_CONNECTION,
    'every slow stream is complete, without a stall': slow.withoutStall === slow.streams,
    'memory is level': last.gatewayMib <= second.gatewayMib * LEVEL_SHARE,
    'descriptors are level': last.descriptors <= second.descriptors + LEVEL_DESCRIPTORS,
    'no request fails': level.errors === 0,
  };
}

const precedence = takePriority();
const load = run(pinning.load, 'load.mjs');
const upstream = run(pinning.upstream, 'upstream.mjs');
const { port } = await firstMessage(upstream);
const gatehouse = await startGatehouse({ upstream: { child: upstream, port }, pinning }, 1);
try {
  const [gateway] = gatehouse.gatewayPids();
  const figures = {
    precedence,
    idle: await measureIdle(gatehouse, load, gateway),
    slow: await measureStreams(gatehouse, load, gateway),
    level: await measureLevel(gatehouse, load, gateway),
  };
  const promises = promisesOf(figures);
  console.log(JSON.stringify({ ...figures, promises }, null, 2));
  if (Object.values(promises).includes(false)) process.exitCode = 1;
} finally {
  await gatehouse.stop();
  await Promise.all([stop(load), stop(upstream)]);
  await stopAll();
}
