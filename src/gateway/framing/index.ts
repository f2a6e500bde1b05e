import type { Framing } from '../../providers/translation.js';
import { AwsEventStreamDecoder } from './aws-event-stream.js';
import type { FrameDecoder } from './frame-decoder.js';
import { JsonLinesDecoder } from './json.js';
import { SseDecoder } from './sse.js';

export {
  type AnswerFrames,
  type EventFraming,
  framesOf,
  wholeResponse,
  type WholeAnswer,
} from './answer-framing.js';
export { FRAME_BYTES_MAX, type FrameDecoder } from './frame-decoder.js';
export { JsonObjects } from './json.js';
export { skipLongLines } from './line-splitter.js';
export { encodeSse, SseParser } from './sse.js';
export { SseBlocks } from './sse-blocks.js';

const DECODERS: Readonly<Record<Framing, () => FrameDecoder>> = {
  sse: () => new SseDecoder(),
  'json-lines': () => new JsonLinesDecoder(),
  'aws-event-stream': () => new AwsEventStreamDecoder(),
};

/** A decoder for one stream. It has state, so each stream needs its own. */
export function decoderFor(framing: Framing): FrameDecoder {
  return DECODERS[framing]();
}
