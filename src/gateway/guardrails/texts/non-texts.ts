import { isUtf8 } from 'node:buffer';
import { base64OfFile, type InlineFile, inlineFile, isTextType } from '../../../providers/inline-file.js';
import type { UnreadReason } from './unread.js';

/**
 * Strings of a body that are not texts. Guardrails read every other string, known or not, so a missing entry causes a false finding but
 * never hides a text. A string is excluded only if both its name and its format show that it is not a text: `"role": "user"` is excluded,
 * `"role": "the Apollo crew"` is not.
 */

/**
 * Identifiers and enumerations, from the providers' documentation: https://platform.openai.com/docs/api-reference,
 * https://docs.claude.com/en/api/messages, https://ai.google.dev/api/generate-content, https://docs.cohere.com/reference/chat
 */
const TOKENS: ReadonlySet<string> = new Set([
  ...[
    'type',
    'role',
    'model',
    'object',
    'status',
    'event',
    'kind',
    'mode',
    'phase',
    'id',
    'ids',
    'container',
  ],
  ...['finish_reason', 'finishReason', 'stop_reason', 'native_finish_reason', 'done_reason', 'blockReason'],
  ...['service_tier', 'serviceTier', 'system_fingerprint', 'modelVersion', 'provider', 'detail', 'outcome'],
  ...['effort', 'reasoning_effort', 'verbosity', 'truncation', 'truncate', 'tool_choice', 'execution', 'ttl'],
  ...['modalities', 'responseModalities', 'modality', 'include', 'retention', 'prompt_cache_retention'],
  ...[
    'encoding_format',
    'response_format',
    'output_format',
    'embedding_types',
    'input_type',
    'task',
    'taskType',
  ],
  ...['format', 'syntax', 'media_type', 'mediaType', 'mime_type', 'mimeType', 'responseMimeType', 'strict'],
  ...['size', 'quality', 'style', 'background', 'moderation', 'voice', 'language', 'timestamp_granularities'],
  ...[
    'category',
    'threshold',
    'probability',
    'severity',
    'safety_mode',
    'citation_quality',
    'generate_summary',
  ],
  ...['stream_format', 'require_approval', 'search_context_size', 'environment', 'caller', 'allowed_callers'],
  ...[
    'cachedContent',
    'created_at',
    'createTime',
    'expires_at',
    'owned_by',
    'ref',
    '$ref',
    '$schema',
    'required',
  ],
]);

/** `tool_call_id`, `responseId`, `vector_store_ids`. */
const IDENTIFIER = /(?:_ids?|Ids?)$/;

/** No space and no `@`: neither a sentence nor an address. */
const TOKEN = /^[\w.:/+-]*$/;

/** Images, audio, vectors, signatures and encrypted data. */
const BINARY: ReadonlySet<string> = new Set([
  ...[
    'data',
    'b64_json',
    'file_data',
    'fileData',
    'partial_image_b64',
    'result',
    'image_base64',
    'embedding',
  ],
  ...['encrypted_content', 'encrypted_index', 'encrypted_stdout', 'signature', 'thoughtSignature', 'audio'],
  ...[
    'thought_signature',
    'imageBytes',
    'bytesBase64Encoded',
    'bytes',
    'mask',
    'image',
    'images',
    'float',
    'int8',
  ],
  ...['url', 'uri', 'image_url', 'video_url', 'audio_url', 'document_url', 'imageUrl', 'fileUri', 'file_uri'],
  ...['base64', 'obfuscation', 'redacted_thinking'],
]);

/** Members whose own member names are chosen by the client or the model. */
const NAMING: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
/** Members whose content is free-form: neither names nor identifiers of the API. */
const FREE: ReadonlySet<string> = new Set(['metadata', 'args', 'env', 'variables']);

export const namesMembers = (name: string): boolean => NAMING.has(name);
export const isFreeForm = (name: string): boolean => FREE.has(name);

/** A text within a string: a file in base64 or in a data URL. */
interface InsideText {
  readonly text: string;
  /** The same string with another text in it. */
  rewrite(text: string): string;
}

/** What a string holds: a text, a text within it, both, or neither. */
export interface StringReading {
  /** The string is a text as it stands. */
  readonly isText: boolean;
  readonly inside?: InsideText;
  /** It holds a text that cannot be read. */
  readonly unread?: UnreadReason;
}

const TEXT: StringReading = { isText: true };
const NO_TEXT: StringReading = { isText: false };
const UNREAD_FILE: StringReading = { isText: false, unread: 'file' };
const UNREAD_TOKENS: StringReading = { isText: false, unread: 'tokens' };

/**
 * Members whose numbers replace a text. https://docs.vllm.ai/en/latest/features/prompt_embeds.html,
 * https://docs.sglang.ai/basic_usage/sampling_params.html, https://github.com/ollama/ollama/blob/main/docs/api.md (`context`),
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (`tokens`)
 */
const TOKEN_LISTS: ReadonlySet<string> = new Set([
  ...[
    'prompt_token_ids',
    'token_ids',
    'input_ids',
    'prompt_tokens',
    'input_tokens',
    'tokens',
    'ids',
    'context',
  ],
]);
/** Types of parts whose numbers are tokens, whatever the name of their member. */
const TOKEN_TYPE = /^(?:\w+_)?tokens?(?:_ids)?$/;
const VECTORS: ReadonlySet<string> = new Set(['prompt_embeds', 'prompt_embeddings']);

type MediaHolder = Readonly<Record<string, unknown>>;

/** Whether a list of numbers in this member stands for a text. */
export const isTokenList = (name: string): boolean => TOKEN_LISTS.has(name);

/** Whether every list of numbers below an object of this type does. */
export const isTokenType = (type: unknown): boolean => typeof type === 'string' && TOKEN_TYPE.test(type);

/** `name`: of its member, or of the member whose list contains it. `holder`: the object with that member. */
export function readString(name: string, value: string, holder: MediaHolder): StringReading {
  if (TOKENS.has(name) || IDENTIFIER.test(name)) return TOKEN.test(value) ? NO_TEXT : TEXT;
  if (VECTORS.has(name) || (BINARY.has(name) && isTokenType(holder.type))) return UNREAD_TOKENS;
  return BINARY.has(name) && holder.type !== 'text' ? readBytes(name, value, holder) : TEXT;
}

/** The bytes of an image or a signature are never as short as a word. */
const BYTES_CHARS_MIN = 64;
const ADDRESS = /^[a-z][a-z\d+.-]{0,31}:\/\//i;
/** Members that hold a file and nothing else, so that a string there is its bytes, well written or not. */
const FILE_BYTES: ReadonlySet<string> = new Set(['file_data']);

/**
 * Bytes that are text are read, whatever type they claim: providers and the gateway's own translations open such files by name, by type or
 * by content. Bytes that claim to be text and are not cannot be read.
 */
function readBytes(name: string, value: string, holder: MediaHolder): StringReading {
  if (ADDRESS.test(value)) return TEXT;
  const file = inlineFile(value, { filename: holder.title, ...holder });
  const claimsText = isTextType(file.type);
  const isFile = file.isDataUrl || FILE_BYTES.has(name);
  const base64 = base64OfFile(file);
  if (base64 === null) return isFile || claimsText ? UNREAD_FILE : TEXT;
  const text = textIn(base64, claimsText);
  const isWord = !isFile && value.length < BYTES_CHARS_MIN;
  if (text === null) return withoutText(isWord, claimsText);
  const inside = { text, rewrite: (after: string) => rewritten(file, value, after) };
  return { isText: isWord && !claimsText, inside };
}

const textIn = (base64: string, claimsText: boolean): string | null =>
  claimsText || startsAsText(base64) ? textOf(base64) : null;

function withoutText(isWord: boolean, claimsText: boolean): StringReading {
  if (isWord) return TEXT;
  return claimsText ? UNREAD_FILE : NO_TEXT;
}

const SNIFFED_CHARS = 1_024;
/** No text has them; UTF-16 has many. */
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** Whether bytes begin as UTF-8 text. The last character of the beginning may be cut. */
function startsAsText(base64: string): boolean {
  const start = Buffer.from(base64.slice(0, SNIFFED_CHARS), 'base64');
  const isCut = base64.length > SNIFFED_CHARS;
  const lengths = isCut ? [0, 1, 2, 3] : [0];
  return lengths.some((cut) => isText(start.subarray(0, start.length - cut)));
}

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !CONTROL.test(bytes.toString('latin1'));

function textOf(base64: string): string | null {
  const bytes = Buffer.from(base64, 'base64');
  return isText(bytes) ? bytes.toString('utf8') : null;
}

/** The string with another text at the place of its data. */
function rewritten({ data, isBase64 }: InlineFile, value: string, text: string): string {
  const head = value.slice(0, value.length - data.length);
  return head + (isBase64 ? Buffer.from(text).toString('base64') : encodeURIComponent(text));
}
