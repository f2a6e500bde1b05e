/**
 * The benchmark: `npm run bench`. docs/benchmarks.md describes what it measures and how to read it.
 *
 * Everything runs on loopback and in one run, because only figures of the same minute on the same machine are comparable. It ends by itself
 * and stops only what it started.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, firstMessage, start, stop, stopAll } from './children.mjs';
import { CONTENDERS, NotAvailable } from './contenders.mjs';
import { readOptions } from './options.mjs';
import { judgePolicies, policyContenders } from './policies.mjs';
import { moveTo, onCores, pinningFor } from './pinning.mjs';
import { allowedCores } from './proc.mjs';
import { takePriority } from './priority.mjs';
import { profileGatehouse } from './profile.mjs';
import { toMarkdown } from './report.mjs';
import { checkLevel, runSchedule, Track } from './schedule.mjs';
import { judge, summarize } from './summary.mjs';
import { measureTail, printTail } from './tail.mjs';
import { measureTranslation } from './translated-requests.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const RESULTS = join(HERE, 'results');

async function main() {
  const cores = allowedCores().length;
  const options = readOptions(process.argv.slice(2), cores);
  if (options.measures.delete('translation')) {
    const isGood = await measureTranslation(options);
    if (options.assert && !isGood) process.exitCode = 1;
    if (options.measures.size === 0) return;
  }
  const stamp = new Date().toISOString().replaceAll(':', '-').slice(0, 19);
  const machine = describeMachine(cores, pinningFor(1, options.pin));
  if (options.priority) machine.pinning += `, ${takePriority()}`;
  mkdirSync(RESULTS, { recursive: true });

  const result = {
    machine,
    options: { ...options, measures: [...options.measures] },
    summaries: [],
    missing: [],
    notes: [],
    rounds: {},
  };
  const context = { options, result, stamp };
  if (options.measures.delete('policies')) await runPolicies(context);
  if (options.measures.delete('tail')) await runTail(context);
  if (options.measures.size === 0) return finish(context, cores);
  await runGroup(
    context,
    options.contenders.filter((name) => name !== 'gatehouse-2'),
    1,
  );
  // Two processes need other cores, so they have a separate run after the rest has ended.
  if (options.contenders.includes('gatehouse-2')) await runGroup(context, ['gatehouse-2'], 2);
  return finish(context, cores);
}

/** Starts the contenders, lets them take turns, and stops them. */
async function runGroup(context, names, gatewayProcesses) {
  if (names.length === 0) return;
  const bench = await startBench(pinningFor(gatewayProcesses, context.options.pin), context.options);
  const tracks = await startContenders(bench, names, context.result);
  await runSchedule(bench, tracks, optionsOf(context.options, gatewayProcesses));
  for (const track of tracks) if (track.contender.ledger) await examine(bench, track, context);
  for (const track of tracks) {
    context.result.summaries.push(summarize(track));
    context.result.rounds[track.name] = track.slots;
    await track.contender.stop();
  }
  await Promise.all([stop(bench.load), stop(bench.upstream.child)]);
}

/** One Gatehouse with several policies, which take turns like contenders. */
async function runPolicies({ options, result }) {
  const bench = await startBench(pinningFor(1, options.pin), options);
  const gatehouse = await CONTENDERS.gatehouse(bench);
  const tracks = (await policyContenders(gatehouse)).map((contender) => new Track(contender));
  await runSchedule(bench, tracks, { ...options, measures: new Set(['throughput']) });
  for (const track of tracks) {
    result.summaries.push(summarize(track));
    result.rounds[track.name] = track.slots;
  }
  await gatehouse.stop();
  await Promise.all([stop(bench.load), stop(bench.upstream.child)]);
}

async function runTail({ options, result }) {
  const bench = await startBench(pinningFor(1, options.pin), options);
  const [bare, gatehouse] = [await CONTENDERS.bare(bench), await CONTENDERS.gatehouse(bench)];
  result.tail = await measureTail(bench, { bare, gatehouse }, options);
  await Promise.all([bare.stop(), gatehouse.stop()]);
  await Promise.all([stop(bench.load), stop(bench.upstream.child)]);
}

function optionsOf(options, gatewayProcesses) {
  return gatewayProcesses === 1 ? options : { ...options, measures: new Set(['throughput']) };
}

async function startBench(pinning, options) {
  if (pinning.on) moveTo(pinning.rest, process.pid);
  const program = (cores, file) => onCores(pinning, cores, [process.execPath, join(HERE, file)]);
  const child = start(program(pinning.upstream, 'upstream.mjs'), { ipc: true });
  const { port } = await firstMessage(child);
  const load = start(program(pinning.load, 'load.mjs'), { ipc: true });
  return { pinning, load, upstream: { child, port }, install: options.install, profile: options.profile };
}

async function startContenders(bench, names, result) {
  const tracks = [];
  for (const name of names) {
    try {
      console.error(`bench: starting ${name}`);
      tracks.push(new Track(await CONTENDERS[name](bench)));
    } catch (error) {
      if (!(error instanceof NotAvailable)) console.error(`bench: ${name} FAILED: ${error.message}`);
      const why =
        error instanceof NotAvailable ? error.message : `**FAILED**: ${error.message.split('\n')[0]}`;
      result.missing.push({ name, why, failed: !(error instanceof NotAvailable) });
    }
  }
  return tracks;
}

/** Checks for Gatehouse only: level memory, a profile, and whether every request is in the log. */
async function examine(bench, track, { options, result, stamp }) {
  if (track.failure) return;
  const first = track.name === 'gatehouse';
  if (first && options.minutes > 0) await checkLevel(bench, track, options.minutes);
  if (first && options.profile) {
    const seconds = options.seconds;
    result.profile = await profileGatehouse(bench, track, { seconds, resultsFolder: RESULTS, stamp });
  }
  result.counted ??= {};
  result.counted[track.name] = await countKept(bench, track);
}

/** Requests sent by the load generator, received by the upstream, and kept by Gatehouse. */
async function countKept(bench, track) {
  const { counts } = await ask(bench.upstream.child, 'counts');
  try {
    return { sent: track.sent, upstream: counts, kept: await track.contender.ledger.countUntil(track.sent) };
  } catch (error) {
    return { sent: track.sent, upstream: counts, kept: null, why: `could not be counted: ${error.message}` };
  }
}

function finish({ options, result, stamp }, cores) {
  const byName = Object.fromEntries(result.summaries.map((summary) => [summary.name, summary]));
  const counted = result.counted?.gatehouse;
  result.verdicts = [
    ...(byName['no policy'] ? judgePolicies(byName) : []),
    ...(byName.gatehouse ? judge(byName, { cores, counted }) : []),
  ];
  result.notes.push(...notesFor(result, cores));
  const file = join(RESULTS, `${stamp}.json`);
  writeFileSync(file, JSON.stringify(result, null, 2));
  console.log(toMarkdown(result));
  console.log(`\nAll figures of all rounds: ${file}`);
  if (result.tail) printTail(result.tail);
  if (result.profile) printProfile(result.profile);
  const broken =
    result.missing.some(({ failed }) => failed) || result.summaries.some(({ failure }) => failure);
  return options.assert && (broken || result.verdicts.some(({ pass }) => pass === false)) ? 1 : 0;
}

const NOISY = 0.1;
const FULL = 0.97;

function notesFor({ summaries, counted }, cores) {
  const notes = summaries
    .filter(({ failure }) => failure)
    .map(({ name, failure }) => `**${name} FAILED**: ${failure}`);
  const noisy = summaries
    .filter(({ name, foreignBusy }) => name !== 'direct' && foreignBusy > NOISY)
    .map(({ name }) => name);
  if (noisy.length > 0)
    notes.push(
      `The machine was not quiet: something else used the gateway's core during ${noisy.join(', ')}. Trust the CPU time per request more than the throughput.`,
    );
  const held = summaries.find(
    ({ name, loadCoreBusy, gatewayBusy }) =>
      name === 'gatehouse' && loadCoreBusy > FULL && gatewayBusy < FULL,
  );
  if (held)
    notes.push(
      'The core of the load generator, which the database shares on a small machine, was full while the gateway still had room: it could do more. See the figure by CPU time.',
    );
  for (const [name, count] of Object.entries(counted ?? {})) notes.push(`${name}: ${keptNote(count)}`);
  for (const { name, streams, manyStreams } of summaries)
    for (const problem of [...(streams?.problems ?? []), ...(manyStreams?.problems ?? [])])
      notes.push(`**${name}, streams**: ${problem}`);
  if (cores < 4 && summaries.some(({ name }) => name === 'gatehouse-2'))
    notes.push(
      `gatehouse-2 ran on ${cores} cores, which load generator, upstream and database share with it: its throughput says nothing about scaling.`,
    );
  return notes;
}

function keptNote({ sent, kept, why }) {
  if (!kept) return `${sent} requests sent; what was kept ${why}.`;
  const { rows, requests, priced, withBodies, rolledUp } = kept;
  return `${sent} requests sent; kept: ${rows} log rows of ${requests} requests, ${priced} with a cost, ${withBodies} with bodies, ${rolledUp} in the rollup.`;
}

function printProfile(profile) {
  if (profile.missing) return void console.log(`\nNo profile: ${profile.missing}.`);
  console.log(`\nCPU profile of the gateway process (opens in the DevTools of Chromium): ${profile.file}`);
  console.log(`Time in each function itself, µs per request, with the profiler on:\n`);
  for (const { name, usPerRequest } of profile.hot)
    console.log(`${usPerRequest.toFixed(1).padStart(8)}  ${name}`);
}

function describeMachine(cores, pinning) {
  const [processor] = cpus();
  const [minute] = loadavg();
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    cpu: processor.model.trim(),
    cores,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    loadBefore: minute.toFixed(2),
    pinning: pinning.on
      ? `gateway on core ${pinning.gateway.join(',')}, load generator on ${pinning.load.join(',')}, upstream on ${pinning.upstream.join(',')}, rest of the product on ${pinning.rest.join(',')}`
      : 'no pinning of cores',
  };
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void stopAll().finally(() => process.exit(130)));

try {
  process.exitCode = await main();
} finally {
  await stopAll();
}
