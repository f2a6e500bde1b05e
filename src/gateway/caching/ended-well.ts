import { withoutByteOrderMark } from '../../common/json/byte-order-mark.js';
import type { Json } from '../../providers/endpoint.js';
import { mayReportFailure, reportsFailure } from '../recording/reading.js';

/**
 * Whether a whole response is complete and reports no failure. Providers do report failures inside a 200, and a broken stream can look like
 * a finished one. A response that cannot be judged is not cached.
 */
export function endedWell(contentType: string | null, body: Buffer): boolean {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return WELL[type]?.(body.toString('utf8')) ?? false;
}

const WELL: Readonly<Record<string, (text: string) => boolean>> = {
  'application/json': isGoodJson,
  'text/event-stream': isGoodStream,
  'application/x-ndjson': (text) => !LINE_ERROR.test(text) && /"done"\s*:\s*true/.test(text),
  // Amazon's frames are binary, but the names of their events appear in them as text.
  'application/vnd.amazon.eventstream': (text) =>
    text.includes('messageStop') && !text.includes(':exception-type'),
};

function isGoodJson(text: string): boolean {
  const value = parsed(text);
  return typeof value === 'object' && value !== null && !reportsFailure(value as Json);
}

/** The completion events of the dialects' streams. */
const LAST_WORDS: readonly RegExp[] = [
  // https://platform.openai.com/docs/api-reference/chat/streaming
  /^data: ?\[DONE\]/m,
  // https://docs.claude.com/en/docs/build-with-claude/streaming
  /"type"\s*:\s*"message_stop"/,
  // https://platform.openai.com/docs/api-reference/responses-streaming
  /"type"\s*:\s*"response\.completed"/,
  // https://ai.google.dev/api/generate-content#candidate
  /"finishReason"\s*:\s*"(?!FINISH_REASON_UNSPECIFIED)/,
  // https://docs.cohere.com/docs/streaming
  /"type"\s*:\s*"message-end"/,
];

const LINE_ERROR = /^\s*\{\s*"error"\s*:/m;

function isGoodStream(text: string): boolean {
  return LAST_WORDS.some((last) => last.test(text)) && !text.split(/\r\n|[\r\n]/).some(isFailure);
}

/** A model's text may contain the word too, so an event with it is parsed. */
function isFailure(line: string): boolean {
  if (/^event: ?(error|response\.failed)$/.test(line)) return true;
  if (!line.startsWith('data:') || !mayReportFailure(line)) return false;
  const event = parsed(line.slice('data:'.length));
  return typeof event !== 'object' || event === null || reportsFailure(event as Json);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    return null;
  }
}
