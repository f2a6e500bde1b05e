import { chatCompletionsUsage } from '../../providers/endpoints/chat-completions.js';
import { endpoints } from '../../providers/endpoints/index.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { HubError } from '../../providers/translation.js';
import { note, parsedObject, type Reading } from '../journal/metering.js';
import { hubErrorOf } from './hub-error.js';
import type { Reply } from '../types/reply.js';
import { headerOf } from '../upstream/response-headers.js';
import type { Translated } from './outgoing.js';

const readers = new Map(endpoints.flatMap(({ id, usage }) => (usage ? [[id, usage] as const] : [])));

/** A plain answer in the client's words, and what it told of itself. */
export function translatedAnswer(
  body: Buffer,
  { translation, context, asked, hub: hubAsked }: Translated,
  reading: Reading,
): Buffer {
  const { translator, shape, hub: endpoint } = translation;
  const provider = parsedObject(body.toString('utf8')) ?? {};
  const hub = translator ? translator.answer(provider, context, hubAsked) : provider;
  const reader: UsageReader = readers.get(endpoint) ?? chatCompletionsUsage;
  note(reading, reader, hub);
  return Buffer.from(JSON.stringify(shape ? shape.answer(hub, asked, context) : hub));
}

/** A provider's refusal in the client's words. */
export function translatedError(
  { status, rawHeaders }: Pick<Reply, 'status' | 'rawHeaders'>,
  body: Buffer,
  { translation }: Translated,
): Buffer {
  const { translator, shape } = translation;
  const header = (name: string): string | null => headerOf(rawHeaders, name);
  const parsed = parsedObject(body.toString('utf8'));
  const error: HubError = translator ? translator.error(status, parsed, header) : hubErrorOf(status, parsed);
  return Buffer.from(JSON.stringify(shape ? shape.error(error, status) : { error }));
}
