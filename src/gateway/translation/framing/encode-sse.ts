import type { StreamEvent } from '../../../providers/translation.js';

const LINE_END = /\r\n|\r|\n/;
const LINE_ENDS = new RegExp(LINE_END, 'g');

/**
 * An event in the standard format (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream), including its
 * blank line. Data with line breaks is sent as several lines, and line breaks in the event's name are removed, so that neither can forge
 * events.
 */
export function encodeSse({ event, data }: StreamEvent): string {
  const lines = hasLineEnd(data) ? data.split(LINE_END).join('\ndata: ') : data;
  if (event === null) return `data: ${lines}\n\n`;
  return `event: ${hasLineEnd(event) ? event.replace(LINE_ENDS, '') : event}\ndata: ${lines}\n\n`;
}

const hasLineEnd = (text: string): boolean => text.includes('\n') || text.includes('\r');
