import type { Usage } from '../../common/contracts/usage.js';
import type { Json } from '../endpoint.js';
import { MediaFile } from '../translation.js';
import { audioDurationMs } from './audio-duration.js';
import type { ChargeRule, ChargedRequest } from './charge.js';
import { highest } from './numbers.js';

const reservation = (): 'reservation' => 'reservation';
const UNITS_ONLY = { input_tokens: 0, output_tokens: 0 } as const;

/** Tokens of the largest image with a published number: 1024 × 1536 in high quality. Larger ones are scaled up. */
const IMAGE_TOKENS = 6_240;
const IMAGE_PIXELS = 1_024 * 1_536;
/** https://platform.openai.com/docs/guides/image-generation#partial-images-cost */
const PARTIAL_IMAGE_TOKENS = 100;
/** An image that is edited in high fidelity. https://platform.openai.com/docs/guides/image-generation#cost-and-latency */
const SOURCE_TOKENS = 8_000;

/** Images are billed per image, by size and quality, or by tokens. https://platform.openai.com/docs/pricing */
export const imagesCharge: ChargeRule = {
  most(request) {
    const { body } = request;
    const count = highest([body], ['n']) ?? 1;
    const made =
      count * (imageTokens(body.size) + PARTIAL_IMAGE_TOKENS * (highest([body], ['partial_images']) ?? 0));
    const sources = SOURCE_TOKENS * sourcesIn(body);
    const byPiece: Usage = {
      ...UNITS_ONLY,
      image_count: count,
      image_size: wordOf(body.size),
      image_quality: wordOf(body.quality),
    };
    const byToken: Usage = {
      input_tokens: textBytes(request) + sources,
      output_tokens: made,
      image_input_tokens: sources,
      image_output_tokens: made,
    };
    return [byPiece, byToken];
  },
  unreported: reservation,
  isExact: true,
};

function imageTokens(size: unknown): number {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(wordOf(size) ?? '') ?? [];
  const pixels = width === undefined ? 0 : Number(width) * Number(height);
  return Math.ceil(IMAGE_TOKENS * Math.max(1, pixels / IMAGE_PIXELS));
}

/** Images in a request, as files, URLs or ids: `image`, `images`, `mask`. */
const sourcesIn = ({ image, images, mask }: Json): number =>
  [image, images, mask].flat().filter((one) => one !== undefined && one !== null).length;

/** Speech has about fifteen characters a second; slow voices, pauses and digits take up to this long for one. */
const CHARACTER_MS = 250;
/** https://platform.openai.com/docs/pricing: $0.015 a minute at $12 a million tokens are 21 tokens a second. */
const SPOKEN_TOKENS_PER_SECOND = 25;
const SLOWEST_SPEED = 0.25;

/** Speech is billed by the character, by the second, or by tokens of text and audio. */
export const speechCharge: ChargeRule = {
  most(request) {
    const { input, speed } = request.body;
    const characters = typeof input === 'string' ? lengthOf(input) : request.bodyBytes;
    const slowness = typeof speed === 'number' ? 1 / Math.min(1, Math.max(SLOWEST_SPEED, speed)) : 1;
    const ms = Math.ceil(characters * CHARACTER_MS * slowness);
    const spoken = Math.ceil((ms / 1_000) * SPOKEN_TOKENS_PER_SECOND);
    return [
      { ...UNITS_ONLY, input_characters: characters },
      { ...UNITS_ONLY, audio_output_ms: ms },
      { input_tokens: request.bodyBytes, output_tokens: spoken, audio_output_tokens: spoken },
    ];
  },
  unreported: reservation,
  isExact: true,
};

/** Characters as providers count them: code points, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const character of text) length += character.length > 0 ? 1 : 0;
  return length;
}

/** Audio of an unknown format is assumed to have 4 kbit/s, which is less than speech codecs use. */
const UNKNOWN_MS_PER_BYTE = 2;
/** Gemini makes 32 tokens of a second of audio, OpenAI 10. https://ai.google.dev/gemini-api/docs/audio */
const HEARD_TOKENS_PER_SECOND = 40;
/** More than the fastest speech. */
const WRITTEN_TOKENS_PER_SECOND = 30;
const WRITTEN_TOKENS_LEAST = 256;
/** Fields for audio stored elsewhere: its length is not in the request. */
const ADDRESSES = ['url', 'file_url', 'audio_url', 'file_id'] as const;

/** Transcripts are billed by the second of audio, or by tokens of audio and text. */
export const transcriptsCharge: ChargeRule = {
  most(request) {
    const { body } = request;
    if (ADDRESSES.some((name) => (body[name] ?? '') !== '')) return null;
    const ms = soundMs(request);
    const tokens = Math.ceil((ms / 1_000) * HEARD_TOKENS_PER_SECOND);
    const written = Math.ceil((ms / 1_000) * WRITTEN_TOKENS_PER_SECOND) + WRITTEN_TOKENS_LEAST;
    return [
      { ...UNITS_ONLY, audio_input_ms: ms },
      { input_tokens: tokens + textBytes(request), output_tokens: written, audio_input_tokens: tokens },
    ];
  },
  unreported: reservation,
  isExact: true,
};

/** All files count, because a form may name them freely; without one, the body counts as audio of an unknown format. */
function soundMs({ body, bodyBytes }: ChargedRequest): number {
  const files = filesIn(body);
  if (files.length === 0) return bodyBytes * UNKNOWN_MS_PER_BYTE;
  return files.reduce(
    (sum, { bytes }) => sum + Math.ceil(audioDurationMs(bytes) ?? bytes.length * UNKNOWN_MS_PER_BYTE),
    0,
  );
}

const filesIn = (body: Json): readonly MediaFile[] =>
  Object.values(body)
    .flat()
    .filter((value) => value instanceof MediaFile);

const textBytes = ({ body, bodyBytes }: ChargedRequest): number =>
  Math.max(
    0,
    filesIn(body).reduce((rest, { bytes }) => rest - bytes.length, bodyBytes),
  );

const wordOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
