import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { word } from './fields.js';
import type { Host } from './host.js';
import { mediaPart } from './media.js';
import { refuseParameter } from '../refusing.js';

type GeminiPartReader = (part: Json, host: Host) => Json | null;

/** How each content part of the hub becomes a Gemini part; null for one that is omitted. */
const READERS: ReadonlyMap<unknown, GeminiPartReader> = new Map<string, GeminiPartReader>([
  ['text', ({ text }) => textPart(text)],
  ['refusal', ({ refusal }) => textPart(refusal)],
  ['image_url', ({ image_url }, host) => link(image_url, 'image_url', host)],
  ['video_url', ({ video_url }, host) => link(video_url, 'video_url', host)],
  ['input_audio', ({ input_audio }, host) => audio(input_audio, host)],
  ['file', ({ file }, host) => document(file, host)],
  // Signed reasoning: Gemini requires only its own signatures back, which are on calls and text.
  ['thinking', () => null],
  ['redacted_thinking', () => null],
]);

/**
 * The content of a message as Gemini's parts. Throws `AppError('parameter_unsupported')` for a part that Gemini does not support; invalid
 * parts are left out.
 */
export function geminiParts(content: unknown, host: Host): Json[] {
  if (!Array.isArray(content)) return present([textPart(content)]);
  return present((content as readonly unknown[]).map((part) => partOf(part, host)));
}

function partOf(part: unknown, host: Host): Json | null {
  if (!isObject(part)) return textPart(part);
  const read = READERS.get(part.type);
  if (read) return read(part, host);
  return refuseParameter('messages.content', `Gemini supports no content part of type "${name(part.type)}"`);
}

/** Gemini refuses parts with an empty text. */
export function textPart(text: unknown): Json | null {
  return typeof text === 'string' && text !== '' ? { text } : null;
}

function link(value: unknown, parameter: string, host: Host): Json | null {
  const { url, mime_type } = isObject(value) ? value : { url: value, mime_type: undefined };
  if (typeof url !== 'string' || url === '') return null;
  return mediaPart({ source: url, mimeType: word(mime_type), parameter }, host);
}

/** https://platform.openai.com/docs/guides/audio; the type is `audio/` and the format, as in Google's own list. */
function audio(value: unknown, host: Host): Json | null {
  if (!isObject(value) || typeof value.data !== 'string') return null;
  const mimeType = word(value.mime_type) || `audio/${word(value.format) || 'wav'}`;
  return mediaPart({ source: value.data, mimeType, parameter: 'input_audio' }, host);
}

function document(value: unknown, host: Host): Json | null {
  if (!isObject(value)) return null;
  const { file_data, file_url, file_id, filename, mime_type } = value;
  const source = [file_data, file_url].find((given) => typeof given === 'string') ?? uploaded(file_id, host);
  if (typeof source !== 'string') return null;
  return mediaPart(
    {
      source,
      mimeType: word(mime_type),
      filename,
      fallback: 'application/pdf',
      parameter: 'file',
    },
    host,
  );
}

/** An uploaded file: its URL, or its name `files/abc`. https://ai.google.dev/gemini-api/docs/files */
function uploaded(id: unknown, host: Host): string | null {
  if (typeof id !== 'string') return null;
  if (/^(https?|gs):\/\//i.test(id)) return id;
  if (host.filesUrl !== null && /^files\/[\w-]+$/.test(id)) return host.filesUrl + id;
  return refuseParameter('file_id', 'only files that were uploaded to Google itself can be named');
}

const name = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 64) : typeof type);

const present = (parts: readonly (Json | null)[]): Json[] => parts.filter((part) => part !== null);
