import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { base64OfFile, dataUrlOf, fileExtension, inlineFile } from '../../../inline-file.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** The location of a block's bytes. */
interface MediaSource {
  /** Media type, lower case; empty if it is not given. */
  readonly type: string;
  readonly source: Json;
}

type Formats = ReadonlyMap<string, string>;

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html */
const IMAGES: Formats = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['png', 'png'],
  ['jpeg', 'jpeg'],
  ['jpg', 'jpeg'],
  ['gif', 'gif'],
  ['webp', 'webp'],
]);

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html */
const DOCUMENTS: Formats = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/md', 'md'],
  ...['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'].map((name) => [name, name] as const),
]);

const lower = (type: unknown): string => (typeof type === 'string' ? type.toLowerCase() : '');

/** The content of a base64 data URL, or a location in S3; null for everything else. */
function sourceOf(url: string): MediaSource | null {
  if (isInS3(url)) return { type: '', source: { s3Location: { uri: url } } };
  const data = dataUrlOf(url);
  return data?.isBase64 ? { type: data.type, source: { bytes: data.data } } : null;
}

const isInS3 = (url: string): boolean => /^s3:\/\//i.test(url);

function formatIn(formats: Formats, ...hints: readonly string[]): string | null {
  return hints.map((hint) => formats.get(hint)).find((format) => format !== undefined) ?? null;
}

/** An image of the hub. Bedrock fetches no URLs: the bytes must be in the request, or in S3. */
export function bedrockImageBlock({ image_url: given }: Json): Json {
  const { url, mime_type: type } = isObject(given) ? given : { url: given, mime_type: null };
  if (typeof url !== 'string') throw invalidRequest('An image_url part needs a "url".');
  const found = sourceOf(url);
  if (!found)
    throw unsupportedParameter(
      'messages[].content[].image_url',
      'Bedrock reads images from base64 data URLs and from S3, not from web addresses',
    );
  return image({ ...found, type: found.type || lower(type) || fileExtension(lower(url)) });
}

function image({ type, source }: MediaSource): Json {
  const format = formatIn(IMAGES, type);
  if (format === null)
    throw unsupportedParameter(
      'messages[].content[].image_url',
      'Bedrock reads PNG, JPEG, GIF and WebP images',
    );
  return { image: { format, source } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html; the models decide which formats they accept. */
export function audioBlock({ input_audio: given }: Json): Json {
  if (!isObject(given) || typeof given.data !== 'string' || typeof given.format !== 'string')
    throw invalidRequest('An input_audio part needs "data" and a "format".');
  return { audio: { format: given.format, source: { bytes: given.data } } };
}

/** Names of the documents of one request, which must all differ. */
export class DocumentNames {
  private readonly taken = new Set<string>();

  /**
   * The file's name without its extension, reduced to the characters that Bedrock allows: letters, digits, single spaces, hyphens,
   * parentheses and square brackets. A duplicate name gets a number.
   */
  next(filename: unknown): string {
    const given = typeof filename === 'string' ? filename.replace(/\.[^.]*$/, '') : '';
    const clean = given.replace(/[^A-Za-z0-9\s()[\]-]/g, '-').replace(/\s+/g, ' ');
    const base = clean.slice(0, 150).trim() || 'document';
    let name = base;
    for (let count = 2; this.taken.has(name); count++) name = `${base} ${count}`;
    this.taken.add(name);
    return name;
  }
}

/** A file of the hub: a document, or an image. */
export function bedrockFileBlock({ file }: Json, names: DocumentNames): Json {
  if (!isObject(file)) throw invalidRequest('A file part needs a "file".');
  const { file_id: id, filename } = file;
  if (typeof id === 'string')
    throw unsupportedParameter('messages[].content[].file', 'Bedrock stores no files; send the bytes');
  const { type, source } = fileSource(file);
  if (formatIn(IMAGES, type) !== null) return image({ type, source });
  const format = formatIn(DOCUMENTS, type);
  if (format === null)
    throw unsupportedParameter(
      'messages[].content[].file',
      `Bedrock reads no documents of the type "${type}"`,
    );
  return { document: { format, name: names.next(filename), source } };
}

function fileSource(file: Json): MediaSource {
  const { file_data: data, file_url: url, mime_type: mime, filename } = file;
  const given = data ?? url;
  if (typeof given !== 'string') throw invalidRequest('A file needs "file_data" or "file_url".');
  const found = isInS3(given) || data === undefined ? sourceOf(given) : bytesOf(given, file);
  if (!found)
    throw unsupportedParameter(
      'messages[].content[].file',
      'Bedrock reads files from the request and from S3, not from web addresses',
    );
  const hints = [found.type, ...[filename, url].map((name) => fileExtension(lower(name)))];
  return { ...found, type: hints.find((hint) => IMAGES.has(hint) || DOCUMENTS.has(hint)) ?? lower(mime) };
}

function bytesOf(data: string, file: Json): MediaSource {
  const read = inlineFile(data, file);
  const bytes = read.isBase64 ? read.data : base64OfFile(read);
  if (bytes === null) throw invalidRequest('The file_data of a file must be base64 or a data URL.');
  return { type: read.type, source: { bytes } };
}
