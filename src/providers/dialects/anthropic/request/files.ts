import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { base64OfFile, dataUrlOf, inlineFile } from '../../../inline-file.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** Bytes with their media type, as in a data URL. https://www.rfc-editor.org/rfc/rfc2397 */
interface Data {
  readonly type: string;
  readonly base64: string;
}

/** Clients' names of types that Anthropic names differently. */
const ALIASES: ReadonlyMap<string, string> = new Map([['image/jpg', 'image/jpeg']]);

const lower = (type: unknown): string => {
  const name = typeof type === 'string' ? type.toLowerCase() : '';
  return ALIASES.get(name) ?? name;
};

/** The content of a base64 data URL; null for everything else. */
function dataOf(url: string): Data | null {
  const data = dataUrlOf(url);
  return data?.isBase64 ? { type: lower(data.type), base64: data.data } : null;
}

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url);

/**
 * An image of the hub: a base64 data URL or a web address. `detail` has no counterpart; it trades cost for sharpness and does not change
 * the meaning. https://platform.claude.com/docs/en/build-with-claude/vision
 */
export function anthropicImageBlock(part: Json): Json {
  const { image_url: given } = part;
  const { url, mime_type: type } = isObject(given) ? given : { url: given, mime_type: null };
  if (typeof url !== 'string') throw invalidRequest('An image_url part needs a "url".');
  const data = dataOf(url);
  if (data) return base64('image', { ...data, type: data.type || lower(type) });
  if (!isWeb(url)) throw invalidRequest('The url of an image must be a base64 data URL or a web address.');
  return { type: 'image', source: { type: 'url', url } };
}

/**
 * A file of the hub: a PDF, a plain text, an image, or one stored at Anthropic. The file's name becomes the document's title.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support
 */
export function anthropicFileBlock(part: Json): Json {
  const { file } = part;
  if (!isObject(file)) throw invalidRequest('A file part needs a "file".');
  const block = stored(file) ?? linked(file) ?? inline(file);
  const title =
    typeof file.filename === 'string' && block.type === 'document' ? { title: file.filename } : {};
  return { ...block, ...title };
}

function stored({ file_id: id, mime_type: type }: Json): Json | null {
  if (typeof id !== 'string') return null;
  const kind = lower(type).startsWith('image/') ? 'image' : 'document';
  return { type: kind, source: { type: 'file', file_id: id } };
}

function linked({ file_url: url, mime_type: type }: Json): Json | null {
  if (typeof url !== 'string') return null;
  if (!isWeb(url)) throw invalidRequest('The file_url of a file must be a web address.');
  const name = lower(type);
  if (name.startsWith('image/')) return { type: 'image', source: { type: 'url', url } };
  // Of documents at a URL, Anthropic reads only PDFs.
  if (name !== '' && name !== 'application/pdf') throw unreadable(name);
  return { type: 'document', source: { type: 'url', url } };
}

function inline(file: Json): Json {
  const { file_data: given } = file;
  if (typeof given !== 'string') throw invalidRequest('A file needs "file_data", "file_url" or "file_id".');
  const read = inlineFile(given, file);
  const type = lower(read.type);
  const isText = type.startsWith('text/');
  const bytes = isText || !read.isBase64 ? base64OfFile(read) : read.data;
  if (bytes === null) throw invalidRequest('The file_data of a file must be base64 or a data URL.');
  if (type.startsWith('image/')) return base64('image', { type, base64: bytes });
  if (type === 'application/pdf') return base64('document', { type, base64: bytes });
  if (!isText) throw unreadable(type);
  const text = Buffer.from(bytes, 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } };
}

function base64(type: 'image' | 'document', data: Data): Json {
  return { type, source: { type: 'base64', media_type: data.type, data: data.base64 } };
}

const unreadable = (type: string) =>
  unsupportedParameter(
    'messages[].content[].file',
    `Anthropic reads PDFs, plain text and images, not "${type}"`,
  );
