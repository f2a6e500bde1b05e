import { AppError } from '../../common/errors/app-error.js';
import { chatCompletionsUsage } from '../../providers/endpoints/chat-completions.js';
import { endpoints } from '../../providers/endpoints/index.js';
import type { Json, UsageReader } from '../../providers/endpoint.js';
import { rendered } from '../../providers/client-formats/media/index.js';
import { type HubError, MediaFile } from '../../providers/translation.js';
import { note, parsedObject, type Reading } from '../recording/reading.js';
import { encodeAnswer, type TranslatedBody } from './encode-body.js';
import { hubErrorOf } from './hub-error.js';
import type { Reply } from '../types/reply.js';
import { headerOf } from '../../common/http/raw-headers.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import { LongStrings } from './long-strings.js';
import type { ActiveTranslation } from './outgoing.js';

const readers = new Map(endpoints.flatMap(({ id, usage }) => (usage ? [[id, usage] as const] : [])));

/** A plain response in the client's dialect, with the values it reported. Throws `upstream_error` if it cannot be parsed. */
export function translatedAnswer(
  { rawHeaders }: Pick<Reply, 'rawHeaders'>,
  body: Buffer,
  translated: ActiveTranslation,
  reading: Reading,
): TranslatedBody {
  const { translation, context, clientBody, hub: hubAsked } = translated;
  const { format, hub: endpoint } = translation;
  const { hub: hubBody, known } = hubAnswer(headerOf(rawHeaders, 'content-type'), body, translated);
  const usage = hubBody.usage
    ? null
    : translation.translator?.usageIn?.((name) => headerOf(rawHeaders, name));
  const hub = usage ? { ...hubBody, usage } : hubBody;
  const reader: UsageReader = readers.get(endpoint) ?? chatCompletionsUsage;
  note(reading, reader, hub);
  return encodeAnswer(
    format ? format.answer(hub, clientBody, context) : rendered(endpoint, hub, hubAsked),
    known,
  );
}

/** A response in the hub's format, with the long strings of its source. */
interface HubAnswer {
  readonly hub: Json;
  readonly known: LongStrings | null;
}

function hubAnswer(
  type: string | null,
  body: Buffer,
  { translation, context, hub }: ActiveTranslation,
): HubAnswer {
  const { translator } = translation;
  const media = translator?.media;
  if (typeof media === 'function' && isMedia(type))
    return { hub: media(new MediaFile(type ?? '', body), context), known: null };
  const text = body.toString('utf8');
  const json = parsedObject(text);
  const known = json && LongStrings.of(body, json, text);
  const answer = json ?? listIn(text);
  if (!answer) throw unreadableAnswer();
  return { hub: translator ? translator.answer(answer, context, hub) : answer, known };
}

/** A bare list is a valid response, too. */
const listIn = (text: string): Json | null =>
  text.startsWith('[') ? parsedObject(`{"items":${text}}`) : null;

/** The error of an attempt without a valid response: a proxy's page, half an object, nothing. */
export const unreadableAnswer = (): AppError =>
  new AppError('upstream_error', { detail: 'its response is not valid JSON' });

/** Whether a plain response can be translated. */
export function isReadable(
  { rawHeaders }: Pick<Reply, 'rawHeaders'>,
  body: Buffer,
  translated: ActiveTranslation,
): boolean {
  if (isImage(headerOf(rawHeaders, 'content-type'), translated)) return true;
  const text = body.toString('utf8');
  return (parsedObject(text) ?? listIn(text)) !== null;
}

/** The response's bytes become a part of the client's. */
const isImage = (type: string | null, { translation }: ActiveTranslation): boolean =>
  typeof translation.translator?.media === 'function' && isMedia(type);

const isJson = (type: string | null): boolean =>
  type === null || /^application\/(?:[\w.-]+\+)?json/i.test(type);

/** Images and audio are not text: a page instead of one is not a valid response. */
const isMedia = (type: string | null): boolean => !isJson(type) && !/^text\//i.test(type ?? '');

/** The translation of a response; null for one that needs none, because it is the audio that the client requested. */
export function unlessPassed(
  { status, rawHeaders }: Reply,
  translated: ActiveTranslation,
): ActiveTranslation | null {
  const isPassed =
    translated.translation.translator?.media === 'passes' &&
    status < 300 &&
    isMedia(readResponseHead(rawHeaders).contentType);
  return isPassed ? null : translated;
}

/** A provider's refusal in the client's dialect. */
export function translatedError(
  { status, rawHeaders }: Pick<Reply, 'status' | 'rawHeaders'>,
  body: Buffer,
  { translation }: ActiveTranslation,
): TranslatedBody {
  const { translator, format } = translation;
  const header = (name: string): string | null => headerOf(rawHeaders, name);
  const parsed = parsedObject(body.toString('utf8'));
  const error: HubError = translator ? translator.error(status, parsed, header) : hubErrorOf(status, parsed);
  return encodeAnswer(format ? format.error(error, status) : { error });
}
