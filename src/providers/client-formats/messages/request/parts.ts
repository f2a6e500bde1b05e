import type { Json } from '../../../endpoint.js';
import { isObject, list, wordOf } from '../../../endpoints/reading.js';
import { invalidMessagesRequest, unsupportedMessagesParameter } from './refusals.js';

/** An Anthropic block as parts of the hub's content. */
type ToParts = (block: Json) => Json[];

const PARTS: ReadonlyMap<string, ToParts> = new Map<string, ToParts>([
  ['text', textPart],
  ['image', imagePart],
  ['document', documentParts],
  ['search_result', searchPart],
]);

/**
 * The content of a user's turn or a tool result as parts of the hub: text, images, documents, search results.
 * https://platform.claude.com/docs/en/api/messages
 */
export function hubPartsOf(content: unknown): Json[] {
  return messagesBlocks(content).flatMap((block) => {
    const toParts = PARTS.get(typeof block.type === 'string' ? block.type : '');
    if (!toParts)
      throw unsupportedMessagesParameter(
        `messages[].content[].${wordOf(block.type)}`,
        'only Anthropic has such blocks',
      );
    return toParts(block).map((part) => withPartCacheControl(part, block));
  });
}

/** The blocks of a content, which may be a plain string. Throws `invalid_request` for anything else. */
export function messagesBlocks(content: unknown): Json[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content))
    throw invalidMessagesRequest('The content of a message must be a string or a list of blocks.');
  return (content as readonly unknown[]).map((block) => {
    if (!isObject(block) || typeof block.type !== 'string')
      throw invalidMessagesRequest('Each block needs a "type".');
    return block;
  });
}

/** Adds the block's `cache_control` to a part, a message or a tool. */
export function withPartCacheControl(part: Json, { cache_control: mark }: Json): Json {
  return isObject(mark) ? { ...part, cache_control: mark } : part;
}

/** Parts as the hub's content: a string for a single text without a mark, or for no parts. */
export function hubContent(parts: readonly Json[]): unknown {
  const [first, second] = parts;
  if (!first) return '';
  const isPlain = first.type === 'text' && second === undefined && first.cache_control === undefined;
  return isPlain ? first.text : parts;
}

function textPart({ text }: Json): Json[] {
  if (typeof text !== 'string') throw invalidMessagesRequest('A text block needs a "text".');
  return text === '' ? [] : [{ type: 'text', text }];
}

function imagePart({ source }: Json): Json[] {
  const { type, url, file_id: id } = sourceOf(source);
  if (type === 'url' && typeof url === 'string') return [{ type: 'image_url', image_url: { url } }];
  if (type === 'file' && typeof id === 'string')
    return [{ type: 'file', file: { file_id: id, mime_type: 'image/*' } }];
  return [{ type: 'image_url', image_url: { url: dataUrl(sourceOf(source)) } }];
}

/** Anthropic's further fields of a document; providers that support them read them from the part. */
const DOCUMENT_EXTRAS = ['citations', 'context'] as const;

function documentParts(block: Json): Json[] {
  const source = sourceOf(block.source);
  if (source.type === 'content') return hubPartsOf(source.content);
  const name = typeof block.title === 'string' ? { filename: block.title } : {};
  const extras = DOCUMENT_EXTRAS.filter((extra) => (block[extra] ?? null) !== null);
  const part = { type: 'file', file: { ...fileOf(source), ...name } };
  return [{ ...part, ...Object.fromEntries(extras.map((extra) => [extra, block[extra]])) }];
}

function fileOf(source: Json): Json {
  const { type, url, file_id: id, data } = source;
  if (type === 'url' && typeof url === 'string') return { file_url: url, mime_type: 'application/pdf' };
  if (type === 'file' && typeof id === 'string') return { file_id: id };
  if (type === 'text' && typeof data === 'string')
    return { file_data: `data:text/plain;base64,${Buffer.from(data, 'utf8').toString('base64')}` };
  return { file_data: dataUrl(source) };
}

function dataUrl({ type, media_type: mediaType, data }: Json): string {
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string')
    throw invalidMessagesRequest(
      'A source must be of type base64, url, text, content or file, with what belongs to it.',
    );
  return `data:${mediaType};base64,${data}`;
}

function sourceOf(source: unknown): Json {
  if (!isObject(source)) throw invalidMessagesRequest('An image or document needs a "source".');
  return source;
}

/** The hub has no search results; title, URL and text are joined as one text. */
function searchPart({ title, source, content }: Json): Json[] {
  const texts = list(content).map((block) => (isObject(block) ? block.text : null));
  const sections = [title, source, ...texts].filter((text) => typeof text === 'string' && text !== '');
  return sections.length > 0 ? [{ type: 'text', text: sections.join('\n') }] : [];
}
