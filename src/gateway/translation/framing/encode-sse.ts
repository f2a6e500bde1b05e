import type { StreamEvent } from '../../../providers/translation.js';

const LINE_END = /\r\n|\r|\n/;
const LINE_ENDS = new RegExp(LINE_END, 'g');

/**
 * An event as clients read it (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream),
 * its blank line included. Data of several lines goes out as several lines, and a line break in the event's name is left
 * out, so that neither can make up events of its own.
 */
export function encodeSse({ event, data }: StreamEvent): string {
  const lines = hasLineEnd(data) ? data.split(LINE_END).join('\ndata: ') : data;
  if (event === null) return `data: ${lines}\n\n`;
  return `event: ${hasLineEnd(event) ? event.replace(LINE_ENDS, '') : event}\ndata: ${lines}\n\n`;
}

const hasLineEnd = (text: string): boolean => text.includes('\n') || text.includes('\r');
