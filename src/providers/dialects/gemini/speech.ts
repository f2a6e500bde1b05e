import type { Json } from '../../endpoint.js';
import { isObject, list, stringify } from '../../endpoints/reading.js';
import { callId } from '../call-ids.js';
import { extraContent } from './signature.js';

/** A stretch of one kind in a response. `index` counts the stretches of a response. */
export interface SpeechBlock {
  readonly index: number;
  readonly kind: 'thinking' | 'text';
  readonly value: string;
}

/** The content of some parts of a response, in the hub's format. */
export interface Speech {
  readonly text: string;
  readonly reasoning: string;
  /** The hub's tool calls, each complete, with its position in the response. */
  readonly calls: readonly { readonly index: number; readonly call: Json }[];
  /** `{type: "image_url", image_url: {url}}`, the url a data URL if the bytes were included. */
  readonly images: readonly Json[];
  /** Base64, one item per part. */
  readonly audio: readonly string[];
  readonly blocks: readonly SpeechBlock[];
  /** Signature of the response's text. */
  readonly signature: string | undefined;
}

interface SpokenParts {
  text: string;
  reasoning: string;
  calls: { readonly index: number; readonly call: Json }[];
  images: Json[];
  audio: string[];
  blocks: SpeechBlock[];
  signature: string | undefined;
}

/**
 * Reads the parts of one candidate, at once or as a stream delivers them: the numbering of calls and blocks continues from one reading to
 * the next. Invalid parts are left out. https://ai.google.dev/api/caching#Part
 */
export class SpeechReader {
  private calls = 0;
  private block = -1;
  private kind: SpeechBlock['kind'] | null = null;

  constructor(private readonly requestId: string) {}

  /** Whether a tool was called so far. */
  get hasCalls(): boolean {
    return this.calls > 0;
  }

  read(content: unknown): Speech {
    const spoken: SpokenParts = {
      text: '',
      reasoning: '',
      calls: [],
      images: [],
      audio: [],
      blocks: [],
      signature: undefined,
    };
    for (const part of list(isObject(content) ? content.parts : null)) {
      if (isObject(part)) this.part(part, spoken);
    }
    return spoken;
  }

  private part(part: Json, spoken: SpokenParts): void {
    if (typeof part.text === 'string') this.text(part.text, part.thought === true, spoken);
    if (isObject(part.functionCall)) this.call(part.functionCall, part.thoughtSignature, spoken);
    else if (typeof part.thoughtSignature === 'string' && part.thought !== true)
      spoken.signature = part.thoughtSignature;
    // Drafts of an image are thoughts; the response's own image follows.
    if (part.thought !== true) media(part, spoken);
  }

  private text(text: string, isThought: boolean, spoken: SpokenParts): void {
    if (text === '') return;
    if (isThought) spoken.reasoning += text;
    else spoken.text += text;
    const kind = isThought ? 'thinking' : 'text';
    if (kind !== this.kind) {
      this.kind = kind;
      this.block += 1;
    }
    spoken.blocks.push({ index: this.block, kind, value: text });
  }

  private call({ id, name, args }: Json, signature: unknown, spoken: SpokenParts): void {
    if (typeof name !== 'string' || name === '') return;
    const index = this.calls;
    this.calls += 1;
    const call = {
      id: typeof id === 'string' && id !== '' ? id : callId(this.requestId, index),
      type: 'function',
      function: { name, arguments: isObject(args) ? stringify(args) : '{}' },
      ...(typeof signature === 'string' && { extra_content: extraContent(signature) }),
    };
    spoken.calls.push({ index, call });
  }
}

/** https://ai.google.dev/api/caching#Blob and https://ai.google.dev/api/caching#FileData */
function media(part: Json, spoken: SpokenParts): void {
  if (isObject(part.inlineData)) {
    const { mimeType, data } = part.inlineData;
    if (typeof mimeType !== 'string' || typeof data !== 'string') return;
    if (mimeType.startsWith('image/')) spoken.images.push(image(`data:${mimeType};base64,${data}`));
    if (mimeType.startsWith('audio/')) spoken.audio.push(data);
  } else if (isObject(part.fileData)) {
    const { fileUri } = part.fileData;
    if (typeof fileUri === 'string') spoken.images.push(image(fileUri));
  }
}

const image = (url: string): Json => ({ type: 'image_url', image_url: { url } });
