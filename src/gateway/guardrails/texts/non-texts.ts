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

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DATA_URL = /^data:([^,]{0,256}?)(;base64)?,/i;
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-javascript)\b)/i;

/** Members whose own member names are chosen by the client or the model. */
const NAMING: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
/** Members whose content is free-form: neither names nor identifiers of the API. */
const FREE: ReadonlySet<string> = new Set(['metadata', 'args', 'env', 'variables']);

export const namesMembers = (name: string): boolean => NAMING.has(name);
export const isFree = (name: string): boolean => FREE.has(name);

/** The form of a string: a text, a text in base64, or not a text. */
export type StringForm = 'text' | 'base64' | null;

/** `name`: of its member, or of the member whose list contains it. `holder`: the object with that member. */
export function formOf(name: string, value: string, holder: Readonly<Record<string, unknown>>): StringForm {
  if (value === '') return null;
  if (TOKENS.has(name) || IDENTIFIER.test(name)) return TOKEN.test(value) ? null : 'text';
  return BINARY.has(name) ? formOfBytes(value, holder) : 'text';
}

/** The bytes of an image or a signature are never as short as a word. */
const BYTES_CHARS_MIN = 64;

function formOfBytes(value: string, holder: Readonly<Record<string, unknown>>): StringForm {
  const url = DATA_URL.exec(value);
  const [start = '', urlType = ''] = url ?? [];
  if (holder.type === 'text' || !BASE64.test(value.slice(start.length))) return 'text';
  const type = url ? urlType : mediaTypeOf(holder);
  if (type === null) return value.length < BYTES_CHARS_MIN ? 'text' : null;
  return TEXT_TYPE.test(type) ? 'base64' : null;
}

function mediaTypeOf({ media_type, mimeType, mime_type }: Readonly<Record<string, unknown>>): string | null {
  const type = media_type ?? mimeType ?? mime_type;
  return typeof type === 'string' ? type : null;
}

/** A text in base64, possibly with the prefix of a data URL. */
export function decodedBase64(value: string): string {
  return Buffer.from(value.slice(startOf(value)), 'base64').toString('utf8');
}

/** The same string with another text. */
export function encodedBase64(value: string, text: string): string {
  return value.slice(0, startOf(value)) + Buffer.from(text).toString('base64');
}

const startOf = (value: string): number => DATA_URL.exec(value)?.[0].length ?? 0;
