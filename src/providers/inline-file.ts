/**
 * Files within a request: their bytes and their media type. Dialects send by it and guardrails read by it, so that no file is text to one
 * of them and bytes to the other.
 */

/** Media types by extension, in Google's spelling where it has one. https://ai.google.dev/gemini-api/docs/file-input-methods */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['json', 'application/json'],
  ['txt', 'text/plain'],
  ['md', 'text/md'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
  ['xml', 'text/xml'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['aiff', 'audio/aiff'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/m4a'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpg'],
  ['mov', 'video/quicktime'],
  ['avi', 'video/avi'],
  ['flv', 'video/x-flv'],
  ['webm', 'video/webm'],
  ['wmv', 'video/wmv'],
  ['3gp', 'video/3gpp'],
]);

/** The extension of a file's name or URL, in lower case; empty without one. */
export function fileExtension(name: string): string {
  const path = name.split(/[?#]/, 1)[0] ?? '';
  const file = path.slice(path.lastIndexOf('/') + 1);
  const dot = file.lastIndexOf('.');
  return dot < 0 ? '' : file.slice(dot + 1).toLowerCase();
}

/** The media type by a file's name or URL; undefined if its extension is unknown. */
export const mediaTypeByName = (name: string): string | undefined => TYPES.get(fileExtension(name));

/** Anything may be of this type. */
const OCTETS = 'application/octet-stream';
/** Of a data URL without a type: https://www.rfc-editor.org/rfc/rfc2397#section-2 */
const DATA_URL_TYPE = 'text/plain';
/** Base64 of `%PDF-`, the beginning of every PDF. */
const PDF_BEGINS = 'JVBERi';

/** The members beside the bytes that tell a file's type, under each of their names. */
export interface FileHints {
  readonly mime_type?: unknown;
  readonly mimeType?: unknown;
  readonly media_type?: unknown;
  readonly filename?: unknown;
}

/** The bytes of a file in a request. */
export interface InlineFile {
  /** The media type in lower case, without parameters; empty if nothing tells it. */
  readonly type: string;
  readonly isDataUrl: boolean;
  /** As `decodedData` reads it. */
  readonly data: string;
  readonly isBase64: boolean;
}

/** A file as a data URL or in bare base64, with the type that its hints, its URL, its name or its first bytes tell, in this order. */
export function inlineFile(source: string, hints: FileHints): InlineFile {
  const url = dataUrlOf(source);
  const { data, isBase64 } = url ?? { data: source, isBase64: true };
  const given = [hints.mime_type ?? hints.mimeType ?? hints.media_type, url?.type].map(bareType);
  const type =
    given.find((one) => one !== '' && one !== OCTETS) ??
    typeBesides(hints, isBase64 ? data : '') ??
    typeOfBytes(url, given);
  return { type, isDataUrl: url !== null, data, isBase64 };
}

function typeOfBytes(url: DataUrl | null, given: readonly string[]): string {
  if (url?.type === '') return DATA_URL_TYPE;
  return given.includes(OCTETS) ? OCTETS : '';
}

function typeBesides({ filename }: FileHints, base64: string): string | undefined {
  const byName = typeof filename === 'string' ? mediaTypeByName(filename) : undefined;
  return byName ?? (base64.startsWith(PDF_BEGINS) ? 'application/pdf' : undefined);
}

function bareType(type: unknown): string {
  return typeof type === 'string' ? (type.split(';', 1)[0] ?? '').trim().toLowerCase() : '';
}

/** https://www.rfc-editor.org/rfc/rfc2397 */
interface DataUrl {
  /** Empty if it is not given. */
  readonly type: string;
  readonly isBase64: boolean;
  readonly data: string;
}

/** The parts of a data URL; null for every other string. */
export function dataUrlOf(source: string): DataUrl | null {
  const comma = /^data:/i.test(source) ? source.indexOf(',') : -1;
  if (comma < 0) return null;
  const [type = '', ...options] = source.slice('data:'.length, comma).split(';');
  const isBase64 = options.at(-1)?.trim().toLowerCase() === 'base64';
  return { type: type.trim().toLowerCase(), isBase64, data: source.slice(comma + 1) };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const SPACES = /\s+/g;

/** The bytes of a file in base64 without line breaks; null if they are neither base64 nor per cent encoded. */
export function base64OfFile({ data, isBase64 }: Pick<InlineFile, 'data' | 'isBase64'>): string | null {
  if (isBase64) {
    if (BASE64.test(data)) return data;
    const bare = data.replace(SPACES, '');
    return BASE64.test(bare) ? bare : null;
  }
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64');
  } catch {
    return null;
  }
}

/** Types whose content is text, besides `text/*`. Clients also write bare extensions. */
const TEXT_TYPE =
  /^(?:text\/.*|message\/.*|(?:application|image)\/(?:[\w.-]+\+)?(?:json5?|jsonl|ndjson|xml|ya?ml|toml|csv|rtf|sql|graphql|javascript|ecmascript|typescript|python|sh|latex|tex|httpd-php|x-(?:json|jsonl|ndjson|yaml|toml|javascript|typescript|python|sh|shellscript|tex|latex|sql|httpd-php|subrip|www-form-urlencoded))|text|txt|md|markdown|csv|html?|json|xml|ya?ml)$/;

export const isTextType = (type: string): boolean => TEXT_TYPE.test(type);
