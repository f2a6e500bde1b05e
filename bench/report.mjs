/** The figures as Markdown. Times are milliseconds unless a heading says otherwise. */
import { added, ratio } from './summary.mjs';

const NONE = '–';
/** In less time, growth may be garbage that was not collected yet. */
const GROWTH_NEEDS_MINUTES = 3;
const ms = (us) => (us == null ? NONE : (us / 1000).toFixed(Math.abs(us) < 10_000 ? 3 : 1));
const pair = (spread) => (spread ? `${ms(spread.p50)} / ${ms(spread.p99)}` : NONE);
const whole = (value) => (value == null ? NONE : Math.round(value).toLocaleString('en-US'));
const times = (value) => (value == null ? NONE : `${value.toFixed(2)} ×`);
const percent = (value) => (value == null ? NONE : `${Math.round(value * 100)} %`);

/** @param {{ options: object, summaries: object[], missing: object[], verdicts: object[], machine: object, notes: string[] }} result */
export function toMarkdown(result) {
  const byName = Object.fromEntries(result.summaries.map((summary) => [summary.name, summary]));
  const measured = (...names) => names.some((name) => result.options.measures.includes(name));
  return [
    ...heading(result),
    ...throughputTable(result, byName),
    ...(measured('throughput', 'latency') ? latencyTable(result, byName) : []),
    ...(measured('streams', 'many-streams') ? streamTable(result, byName) : []),
    ...memoryTable(result),
    ...verdictTable(result),
    ...result.notes.map((note) => `- ${note}`),
  ].join('\n');
}

function heading({ machine, summaries }) {
  return [
    `\n## Bench ${machine.date}\n`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.pinning}, Node ${machine.node}, load average before ${machine.loadBefore}\n`,
    ...summaries.map((summary) => `- **${summary.name}**: ${summary.what}`),
  ];
}

function table(title, columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const ruler = columns.map((_, index) => (index === 0 ? '---' : '--:'));
  return [`\n### ${title}\n`, line(columns), line(ruler), ...rows.map(line), ''];
}

function throughputTable({ summaries, missing }, { bare, portkey }) {
  const columns = [
    '64 connections',
    'requests/s',
    'of bare',
    'of Portkey',
    'CPU µs/request, gateway',
    'requests/s per core by CPU time',
    'CPU µs/request, rest of product',
    'gateway core busy',
    'load core busy',
    'others on the gateway core',
    'p50 / p99',
  ];
  const rows = summaries.map((summary) => [
    summary.name + (summary.failure ? ' **FAILED**' : ''),
    whole(summary.requestsPerSecond),
    times(ratio(summary.requestsPerSecond, bare?.requestsPerSecond)),
    times(ratio(summary.requestsPerSecond, portkey?.requestsPerSecond)),
    whole(summary.cpuUsPerRequest),
    summary.cpuUsPerRequest ? whole(1e6 / summary.cpuUsPerRequest) : NONE,
    summary.otherCpuUsPerRequest ? whole(summary.otherCpuUsPerRequest) : NONE,
    summary.name === 'direct' ? NONE : percent(summary.gatewayBusy),
    percent(summary.loadCoreBusy),
    summary.name === 'direct' ? NONE : percent(summary.foreignBusy),
    pair(summary.c64),
  ]);
  const absent = missing.map(({ name, why }) => [name, why, ...columns.slice(2).map(() => NONE)]);
  return table('Throughput', columns, [...rows, ...absent]);
}

function latencyTable({ summaries }, { direct, bare }) {
  const plus = (summary, reference, measure) =>
    reference && summary[measure] && summary !== reference && summary.name !== 'direct'
      ? `${ms(added(summary, reference, measure, 'p50'))} / ${ms(added(summary, reference, measure, 'p99'))}`
      : NONE;
  const columns = [
    'p50 / p99, ms',
    '1 connection',
    'added over direct',
    'added over bare',
    '64 connections',
    'added over direct',
    'added over bare',
  ];
  const rows = summaries.map((summary) => [
    summary.name,
    pair(summary.c1),
    plus(summary, direct, 'c1'),
    plus(summary, bare, 'c1'),
    pair(summary.c64),
    plus(summary, direct, 'c64'),
    plus(summary, bare, 'c64'),
  ]);
  return table('Latency', columns, rows);
}

function streamTable({ summaries }, { direct }) {
  const held = (count) => (count ? `${count.withoutStall} of ${count.streams}` : NONE);
  const columns = [
    'p50 / p99, ms',
    'first token, 64 streams',
    'added p50 / p99',
    'chunk delay, 64',
    'without stall, 64',
    'first token, 512 streams',
    'chunk delay, 512',
    'without stall, 512',
    'missing events',
    'CPU ms/stream',
  ];
  const rows = summaries.map((summary) => [
    summary.name,
    pair(summary.ttft),
    direct && summary !== direct
      ? `${ms(added(summary, direct, 'ttft', 'p50'))} / ${ms(added(summary, direct, 'ttft', 'p99'))}`
      : NONE,
    pair(summary.chunk),
    held(summary.streams),
    pair(summary.manyTtft),
    pair(summary.manyChunk),
    held(summary.manyStreams),
    whole((summary.streams?.missingFrames ?? 0) + (summary.manyStreams?.missingFrames ?? 0)),
    ms(summary.manyCpuUsPerStream),
  ]);
  return table('Streams of 64 events at 20 ms', columns, rows);
}

function memoryTable({ summaries }) {
  const columns = [
    'MiB resident, gateway process(es)',
    'at rest',
    'under load, highest',
    'steady load',
    'growth per hour',
  ];
  const rows = summaries.map((summary) => [
    summary.name,
    whole(summary.restMib),
    whole(summary.loadMib),
    summary.level ? `${whole(summary.level.lastMib)} after ${summary.level.minutes} min` : NONE,
    summary.level?.minutes >= GROWTH_NEEDS_MINUTES ? whole(summary.level.growthMibPerHour) : NONE,
  ]);
  return table('Memory', columns, rows);
}

function verdictTable({ verdicts }) {
  if (verdicts.length === 0) return [];
  const word = { true: 'PASS', false: '**FAIL**', null: 'not measured' };
  const rows = verdicts.map(({ target, value, unit, pass, why }) => [
    target,
    value === null ? (why ?? NONE) : `${Number(value.toPrecision(3))} ${unit}`.trim(),
    word[String(pass)],
  ]);
  return table('Targets', ['target', 'measured', ''], rows);
}
