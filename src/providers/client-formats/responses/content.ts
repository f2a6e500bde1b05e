import type { Json } from '../../endpoint.js';
import { isObject, textOf, wordOf } from '../../endpoints/reading.js';
import { invalidResponsesRequest, unsupportedResponsesParameter } from './refusing.js';

type ResponsesPartReader = (part: Json, where: string) => Json;

/** The parts of messages, by type. https://platform.openai.com/docs/api-reference/responses/create#responses-create-input */
const PARTS: ReadonlyMap<string, ResponsesPartReader> = new Map<string, ResponsesPartReader>([
  ['input_text', textPart],
  ['output_text', textPart],
  ['text', textPart],
  ['refusal', ({ refusal }) => ({ type: 'refusal', refusal: textOf(refusal) })],
  ['input_image', imagePart],
  ['input_file', filePart],
  ['input_audio', audioPart],
]);

/** The content of an item as parts of the hub. Throws `invalid_request` or `parameter_unsupported`. */
export function hubContentParts(content: unknown, where: string): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content))
    throw invalidResponsesRequest(`"${where}" must be a string or a list of parts`);
  return content.map((part: unknown, index) => partOf(part, `${where}[${index}]`));
}

/** A single plain text becomes a string: some providers do not accept lists. */
export function responsesContent(parts: readonly Json[]): string | readonly Json[] {
  const [only, ...others] = parts;
  if (!only) return '';
  const isPlain = others.length === 0 && only.type === 'text' && Object.keys(only).length === 2;
  return isPlain ? textOf(only.text) : parts;
}

function partOf(part: unknown, where: string): Json {
  if (!isObject(part)) throw invalidResponsesRequest(`"${where}" must be an object`);
  const read = PARTS.get(wordOf(part.type));
  if (!read)
    throw unsupportedResponsesParameter(
      `${where}.type`,
      `parts of this type cannot be sent to this provider`,
    );
  return { ...read(part, where), ...marksOf(part) };
}

const MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const;

/** Marks of prompt caching, which the hub has in the same field. */
export function marksOf(marked: Json): Json {
  return Object.fromEntries(
    MARKS.filter((name) => isObject(marked[name])).map((name) => [name, marked[name]]),
  );
}

function textPart({ text }: Json, where: string): Json {
  if (typeof text !== 'string') throw invalidResponsesRequest(`"${where}.text" must be a string`);
  return { type: 'text', text };
}

function imagePart({ image_url, file_id, detail }: Json, where: string): Json {
  if (typeof image_url === 'string')
    return { type: 'image_url', image_url: { url: image_url, ...detailOf(detail) } };
  if (typeof file_id === 'string')
    throw unsupportedResponsesParameter(
      `${where}.file_id`,
      'files stored at OpenAI cannot be read here; send "image_url"',
    );
  throw invalidResponsesRequest(`"${where}.image_url" must be a string`);
}

/** `original` means no scaling down; `high` is the maximum of chat completions. */
function detailOf(detail: unknown): Json {
  if (typeof detail !== 'string') return {};
  return { detail: detail === 'original' ? 'high' : detail };
}

const FILE_FIELDS = ['file_data', 'file_url', 'file_id', 'filename'] as const;

function filePart(part: Json, where: string): Json {
  const given = FILE_FIELDS.filter((name) => typeof part[name] === 'string');
  if (!given.some((name) => name !== 'filename'))
    throw invalidResponsesRequest(`"${where}" must have file_data, file_url or file_id`);
  return { type: 'file', file: Object.fromEntries(given.map((name) => [name, part[name]])) };
}

function audioPart({ input_audio }: Json, where: string): Json {
  if (!isObject(input_audio) || typeof input_audio.data !== 'string')
    throw invalidResponsesRequest(`"${where}.input_audio.data" must be a string`);
  const { data, format } = input_audio;
  return { type: 'input_audio', input_audio: { data, format } };
}
