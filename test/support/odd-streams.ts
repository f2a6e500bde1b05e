import type { SeededRandom } from './random.js';

/**
 * Writes events in a valid but unusual framing.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export type Framing = (events: readonly string[]) => string;

/** Events are one-line JSON objects or `[DONE]`. */
export const FRAMINGS: Readonly<Record<string, Framing>> = {
  plain: (events) => events.map((data) => `data: ${data}\n\n`).join(''),
  'CR LF': (events) => events.map((data) => `data: ${data}\r\n\r\n`).join(''),
  'CR alone': (events) => events.map((data) => `data: ${data}\r\r`).join(''),
  'without a space': (events) => events.map((data) => `event:message\ndata:${data}\n\n`).join(''),
  'comments and other fields': (events) =>
    `: open\n\nretry: 3000\n\n${events.map((data, at) => `:\nid: ${at}\nunknown: x\nevent: e\ndata: ${data}\n: x\n\n`).join('')}: bye\n\n`,
  'a byte order mark': (events) => `\ufeff${events.map((data) => `data: ${data}\n\n`).join('')}`,
  'several data lines': (events) =>
    events.map((data) => `data: ${data.replace(/^\{/, '{\ndata: ').replace(/\}$/, '\ndata:}')}\n\n`).join(''),
  'more blank lines, and an end without one': (events) =>
    `\n\n${events.map((data) => `data:  ${data}`).join('\n\n\n\n')}\n`,
  'a tail behind the last event': (events) =>
    `${events.map((data) => `data: ${data}\n\n`).join('')}: trailing\n\n\n`,
};

/** Cuts bytes at random positions, including inside characters. */
export function cut(random: SeededRandom, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + random.whole(1, Math.max(1, Math.floor(bytes.length / 3)));
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
