import type { DestinationStream } from 'pino';

/** Already in the line, or of no use on a terminal. */
const HIDDEN: ReadonlySet<string> = new Set(['time', 'level', 'component', 'msg', 'pid', 'err', 'failure']);
const LEVEL_WIDTH = 5;
const COMPONENT_WIDTH = 14;
/** What a terminal could take for a command, or an end of line. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

type ReadableLine = Readonly<Record<string, unknown>>;

/** Passes on each JSON line as one for a reader. */
export function readableLines(output: DestinationStream): DestinationStream {
  return { write: (json) => output.write(readableLine(json)) };
}

/** `01:02:03.456 INFO  launcher       Gatehouse is ready. port=8787`, with the stack of a failure below. */
export function readableLine(json: string): string {
  const line = JSON.parse(json) as ReadableLine;
  const level = text(line['level']).toUpperCase().padEnd(LEVEL_WIDTH);
  const component = text(line['component'] ?? '').padEnd(COMPONENT_WIDTH);
  const fields = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => ` ${printable(name)}=${text(value)}`);
  const head = `${timeOfDay(line['time'])} ${level} ${component} ${text(line['msg'] ?? '')}${fields.join('')}`;
  return `${head}${stackOf(line['err'] ?? line['failure'])}\n`;
}

/** Local time, as on the operator's clock. */
function timeOfDay(time: unknown): string {
  const at = new Date(String(time));
  const two = (part: number): string => String(part).padStart(2, '0');
  const seconds = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

const text = (value: unknown): string =>
  printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const printable = (value: string): string =>
  value.replace(UNPRINTABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function stackOf(failure: unknown): string {
  if (typeof failure !== 'object' || failure === null) return '';
  const { stack, message = '' } = failure as { readonly stack?: string; readonly message?: string };
  const lines = (stack ?? message).split('\n');
  return lines.map((line) => `\n    ${printable(line.trim())}`).join('');
}
