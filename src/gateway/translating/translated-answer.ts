import { chatCompletionsUsage } from '../../providers/endpoints/chat-completions.js';
import { endpoints } from '../../providers/endpoints/index.js';
import type { Json, UsageReader } from '../../providers/endpoint.js';
import { rendered } from '../../providers/shapes/media/index.js';
import { type HubError, MediaFile } from '../../providers/translation.js';
import { note, parsedObject, type Reading } from '../journal/metering.js';
import { encodeAnswer, type EncodedBody } from './encode-body.js';
import { hubErrorOf } from './hub-error.js';
import type { Reply } from '../types/reply.js';
import { headerOf, readResponseHead } from '../upstream/response-headers.js';
import type { Translated } from './outgoing.js';

const readers = new Map(endpoints.flatMap(({ id, usage }) => (usage ? [[id, usage] as const] : [])));

/** A plain answer in the client's words, and what it told of itself. */
export function translatedAnswer(
  { rawHeaders }: Pick<Reply, 'rawHeaders'>,
  body: Buffer,
  translated: Translated,
  reading: Reading,
): EncodedBody {
  const { translation, context, asked, hub: hubAsked } = translated;
  const { shape, hub: endpoint } = translation;
  const hub = hubAnswer(readResponseHead(rawHeaders).contentType, body, translated);
  const reader: UsageReader = readers.get(endpoint) ?? chatCompletionsUsage;
  note(reading, reader, hub);
  return encodeAnswer(shape ? shape.answer(hub, asked, context) : rendered(endpoint, hub, hubAsked));
}

function hubAnswer(type: string | null, body: Buffer, { translation, context, hub }: Translated): Json {
  const { translator } = translation;
  if (!translator) return parsedObject(body.toString('utf8')) ?? {};
  const { media } = translator;
  if (typeof media === 'function' && !isJson(type)) return media(new MediaFile(type ?? '', body), context);
  return translator.answer(parsedAnswer(body), context, hub);
}

/** A bare list is an answer, too. */
function parsedAnswer(body: Buffer): Json {
  const text = body.toString('utf8');
  return parsedObject(text.startsWith('[') ? `{"items":${text}}` : text) ?? {};
}

const isJson = (type: string | null): boolean =>
  type === null || /^application\/(?:[\w.-]+\+)?json/i.test(type);

/** The translation of an answer; null for one that needs none, because it is the sound that the client wants. */
export function unlessPassed(
  { status, rawHeaders }: Reply,
  translated: Translated | null,
): Translated | null {
  const isPassed =
    translated?.translation.translator?.media === 'passes' &&
    status < 300 &&
    !isJson(readResponseHead(rawHeaders).contentType);
  return isPassed ? null : translated;
}

/** A provider's refusal in the client's words. */
export function translatedError(
  { status, rawHeaders }: Pick<Reply, 'status' | 'rawHeaders'>,
  body: Buffer,
  { translation }: Translated,
): EncodedBody {
  const { translator, shape } = translation;
  const header = (name: string): string | null => headerOf(rawHeaders, name);
  const parsed = parsedObject(body.toString('utf8'));
  const error: HubError = translator ? translator.error(status, parsed, header) : hubErrorOf(status, parsed);
  return encodeAnswer(shape ? shape.error(error, status) : { error });
}
