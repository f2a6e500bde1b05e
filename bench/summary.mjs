/** From slots to figures: medians over the rounds, differences between contenders, and the targets. */
import { median } from './schedule.mjs';

const over = (slots, figure) => (slots.length === 0 ? null : median(slots.map(figure)));

/** @param {import('./schedule.mjs').Track} track */
export function summarize(track) {
  const { throughput, latency, streams, 'many-streams': many } = track.slots;
  const all = Object.values(track.slots).flat();
  return {
    name: track.name,
    what: track.contender.what,
    failure: track.failure,
    readyAfterMs: track.contender.readyAfterMs ?? null,
    requestsPerSecond: over(throughput, (slot) => slot.requestsPerSecond),
    cpuUsPerRequest: over(throughput, (slot) => slot.cpuUsPerUnit),
    otherCpuUsPerRequest: over(throughput, (slot) => slot.otherCpuUsPerUnit),
    gatewayBusy: over(throughput, (slot) => slot.gatewayBusy),
    loadCoreBusy: over(throughput, (slot) => slot.loadCoreBusy),
    foreignBusy: throughput.some((slot) => slot.foreignBusy !== null)
      ? over(throughput, (slot) => slot.foreignBusy ?? 0)
      : null,
    settleMs: over(throughput, (slot) => slot.settleMs),
    c64: spread(throughput, 'latency'),
    c1: spread(latency, 'latency'),
    ttft: spread(streams, 'ttft'),
    chunk: spread(streams, 'delay'),
    manyTtft: spread(many, 'ttft'),
    manyChunk: spread(many, 'delay'),
    manyCpuUsPerStream: over(many, (slot) => slot.cpuUsPerUnit),
    streams: counted(streams),
    manyStreams: counted(many),
    restMib: track.restMib,
    loadMib: all.length === 0 ? null : Math.max(...all.map((slot) => slot.rssMib)),
    level: track.level,
  };
}

function spread(slots, name) {
  if (slots.length === 0) return null;
  return {
    p50: over(slots, (slot) => slot[name].p50),
    p99: over(slots, (slot) => slot[name].p99),
    max: Math.max(...slots.map((slot) => slot[name].max)),
  };
}

function counted(slots) {
  if (slots.length === 0) return null;
  const sum = (field) => slots.reduce((total, slot) => total + slot[field], 0);
  return {
    streams: sum('streams'),
    withoutStall: sum('withoutStall'),
    stalls: sum('stalls'),
    missingFrames: sum('missingFrames'),
    problems: slots.flatMap((slot) =>
      Object.entries(slot.problems).map(([what, times]) => `${times} × ${what}`),
    ),
  };
}

/** The difference of two percentiles, microseconds; null when one of them is missing. */
export function added(summary, reference, measure, share) {
  const [here, there] = [summary?.[measure]?.[share], reference?.[measure]?.[share]];
  return here == null || there == null ? null : here - there;
}

export function ratio(a, b) {
  return a == null || b == null || b === 0 ? null : a / b;
}

/**
 * The targets. A null `value` could not be measured in this run; `why` then has the reason.
 *
 * @returns {{ target: string, value: number | null, unit: string, pass: boolean | null, why?: string }[]}
 */
export function judge(byName, { cores, counted }) {
  const { direct, bare, gatehouse, portkey, 'gatehouse-2': two } = byName;
  const portkeyTtft = added(portkey, direct, 'ttft', 'p99');
  const scale = ratio(two?.requestsPerSecond, gatehouse?.requestsPerSecond);
  return [
    atLeast(
      'throughput of the bare forwarder',
      ratio(gatehouse?.requestsPerSecond, bare?.requestsPerSecond),
      0.75,
      '×',
    ),
    atLeast(
      'the same by CPU time per request',
      ratio(bare?.cpuUsPerRequest, gatehouse?.cpuUsPerRequest),
      0.75,
      '×',
    ),
    atLeast(
      'throughput of Portkey 1.15.2',
      ratio(gatehouse?.requestsPerSecond, portkey?.requestsPerSecond),
      10,
      '×',
    ),
    atMost(
      'added p50 at 1 connection over the bare forwarder',
      inMs(added(gatehouse, bare, 'c1', 'p50')),
      0.4,
      'ms',
    ),
    atMost(
      'added first token p99 at 64 streams, share of what Portkey adds',
      ratio(added(gatehouse, direct, 'ttft', 'p99'), portkeyTtft),
      0.5,
      '×',
    ),
    atMost('memory of the gateway process under load', gatehouse?.loadMib ?? null, 160, 'MiB'),
    atLeast(
      'throughput of 2 processes over 1',
      cores >= 4 ? scale : null,
      1.7,
      '×',
      `needs 4 cores, this machine has ${cores}`,
    ),
    atMost('streams of 512 with a stall or a missing event', withStall(gatehouse), 0, ''),
    atMost(
      'requests lost or doubled in the log, the costs, the bodies or the rollup',
      notKept(counted),
      0,
      '',
      counted?.why,
    ),
  ];
}

const withStall = (summary) =>
  summary?.manyStreams ? summary.manyStreams.streams - summary.manyStreams.withoutStall : null;

/** The largest difference between the requests sent and those found in any place that should have them. */
function notKept(counted) {
  if (!counted?.kept) return null;
  return Math.max(...Object.values(counted.kept).map((kept) => Math.abs(counted.sent - kept)));
}

const inMs = (us) => (us === null ? null : us / 1000);

function atLeast(target, value, bound, unit, why) {
  return {
    target: `${target}: at least ${bound} ${unit}`.trim(),
    value,
    unit,
    pass: value === null ? null : value >= bound,
    why,
  };
}

function atMost(target, value, bound, unit, why) {
  return {
    target: `${target}: at most ${bound} ${unit}`.trim(),
    value,
    unit,
    pass: value === null ? null : value <= bound,
    why,
  };
}
