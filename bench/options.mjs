/** The command line options, and the sizes derived from them. */
import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders.mjs';

export const MEASURES = ['throughput', 'latency', 'streams', 'many-streams'];
/** Only on request: they compare Gatehouse with itself. */
const OWN_MEASURES = ['policies', 'translation', 'tail'];

const HELP = `npm run bench -- [options]

  --quick             fewer and shorter rounds, about 100 seconds in all
  --only a,b          only these contenders: ${Object.keys(CONTENDERS).join(', ')}
  --measure a,b       only these measures: ${[...MEASURES, ...OWN_MEASURES].join(', ')}
  --seconds N         length of one throughput slot (8; with --quick 2)
  --rounds N          rounds (3; with --quick 2)
  --minutes N         afterwards, N minutes of steady load on Gatehouse to see whether memory stays level
  --no-portkey        without @portkey-ai/gateway, and without installing it
  --priority          run before other programs of a busy machine (needs root; it slows those down meanwhile)
  --no-pin            let the system choose the cores
  --profile           one more slot on Gatehouse with the CPU profiler on
  --assert            exit code 1 when a target is missed or a contender failed
  --help`;

const DEFINITIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  measure: { type: 'string' },
  seconds: { type: 'string' },
  rounds: { type: 'string' },
  minutes: { type: 'string', default: '0' },
  'no-portkey': { type: 'boolean', default: false },
  priority: { type: 'boolean', default: false },
  'no-pin': { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  assert: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

/** Exits with the help text on request, and with one sentence when an option is wrong. */
export function readOptions(parameters, cores) {
  try {
    const { values } = parseArgs({ args: parameters, options: DEFINITIONS });
    if (values.help) leave(HELP, 0);
    return sized(values, cores);
  } catch (error) {
    return leave(`bench: ${error.message}\n\n${HELP}`, 2);
  }
}

function sized(values, cores) {
  const seconds = number(values.seconds ?? (values.quick ? '2' : '8'), 'seconds');
  return {
    contenders: chosen(values, cores),
    measures: new Set(
      listed(values.measure, values.measure ? [...MEASURES, ...OWN_MEASURES] : MEASURES, 'measure'),
    ),
    install: !values['no-portkey'],
    pin: !values['no-pin'],
    priority: values.priority,
    profile: values.profile,
    assert: values.assert,
    minutes: number(values.minutes, 'minutes', 0),
    rounds: number(values.rounds ?? (values.quick ? '2' : '3'), 'rounds', 1),
    streamRounds: values.quick ? 1 : 3,
    seconds,
    latencySeconds: Math.min(3, Math.max(1, seconds / 2)),
    warmUpSeconds: values.quick ? 6 : 15,
    streamTurns: values.quick ? 1 : 2,
  };
}

/** Default: everything; two gateway processes side by side only if there are enough cores. */
function chosen(values, cores) {
  const names = listed(values.only, Object.keys(CONTENDERS), 'only');
  return names.filter((name) => {
    if (name === 'portkey' && values['no-portkey']) return false;
    return name !== 'gatehouse-2' || values.only !== undefined || !values.quick || cores >= 4;
  });
}

function listed(text, known, option) {
  if (text === undefined) return known;
  const asked = text.split(',').map((name) => name.trim());
  const wrong = asked.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new Error(`--${option}: there is no "${wrong}".`);
  return known.filter((name) => asked.includes(name));
}

function number(text, option, least = 0.5) {
  const value = Number(text);
  if (!Number.isFinite(value) || value < least)
    throw new Error(`--${option}: "${text}" is not a number of at least ${least}.`);
  return value;
}

function leave(text, code) {
  (code === 0 ? console.log : console.error)(text);
  return process.exit(code);
}
