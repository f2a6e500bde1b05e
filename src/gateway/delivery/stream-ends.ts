/**
 * A stream's last event is a line of its own. Texts can contain the same words, but only in JSON, which has no line breaks inside strings.
 */
const LAST_WORD = /(^|[\r\n])data: ?\[DONE\][\r\n]{0,4}$/;
/** Its maximum length plus one: a match at the start of this tail is a match at the start of the chunk. */
const LAST_WORD_BYTES = 18;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** An event ends with an empty line: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function endsWithEmptyLine(chunk: Buffer): boolean {
  const { length } = chunk;
  if (chunk[length - 1] !== LINE_FEED) return false;
  const before = chunk[length - 2] === CARRIAGE_RETURN ? length - 3 : length - 2;
  return chunk[before] === LINE_FEED;
}

/** Whether a chunk ends with the event that ends the stream. `isBetweenEvents`: it begins an event. */
export function endsStream(chunk: Buffer, isBetweenEvents: boolean): boolean {
  const found = LAST_WORD.exec(chunk.toString('latin1', Math.max(0, chunk.length - LAST_WORD_BYTES)));
  return found !== null && (found[1] !== '' || isBetweenEvents);
}
