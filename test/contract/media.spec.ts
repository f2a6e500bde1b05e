import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decoderFor } from '../../src/gateway/framing/index.js';
import type { EndpointId, Json } from '../../src/providers/endpoint.js';
import { findProvider } from '../../src/providers/catalog/registry.js';
import { rendered } from '../../src/providers/client-formats/media/index.js';
import {
  type Context,
  FormUpload,
  type HubError,
  MediaFile,
  type Translator,
} from '../../src/providers/translation.js';

/** A file in a recording: `{ "$file": [type, name, text] }`. A form: `{ "$form": [[name, value], …] }`. */
interface Recording {
  readonly title: string;
  /** Page of the example. */
  readonly source: string;
  readonly provider: string;
  readonly endpoint: EndpointId;
  readonly model: string;
  readonly isStreamed?: boolean;
  readonly isStrict?: boolean;
  readonly hub: Json;
  readonly request?: Json;
  /** Names the parameter that cannot be said. */
  readonly refused?: string;
  readonly answer?: Json;
  /** An answer that is no JSON. */
  readonly file?: Json;
  readonly translated?: Json;
  /** What the client gets in the form that it asked for. */
  readonly rendered?: Json;
  readonly lines?: readonly Json[];
  readonly chunks?: readonly Json[];
  readonly isDone?: boolean;
  readonly status?: number;
  readonly refusal?: Json | null;
  readonly error?: HubError;
}

const FOLDERS = ['elevenlabs', 'deepgram', 'stability', 'ollama', 'workers-ai', 'huggingface'] as const;

const recordings = FOLDERS.flatMap((folder) => {
  const place = new URL(`./recordings/${folder}/`, import.meta.url);
  return readdirSync(place).flatMap(
    (file) => JSON.parse(readFileSync(new URL(file, place), 'utf8')) as Recording[],
  );
});

const having = (field: keyof Recording) => recordings.filter((recording) => field in recording);

function translatorOf({ provider, endpoint }: Recording): Translator {
  const translator = findProvider(provider).dialect.translators?.[endpoint];
  if (!translator) throw new Error(`${provider} translates no ${endpoint}.`);
  return translator;
}

const contextOf = ({ model, isStreamed = false, isStrict = true }: Recording): Context => ({
  id: 'exchange-1',
  created: 1_700_000_000,
  model,
  isStreamed,
  fields: { 'workers-ai-account-id': '0123456789abcdef0123456789abcdef' },
  isStrict,
});

function read(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(read);
  const { $file: file } = value as { $file?: readonly [string, string, string] };
  if (file) return new MediaFile(file[0], Buffer.from(file[2]), file[1]);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, read(item)]));
}

function shown(value: unknown): unknown {
  if (value instanceof MediaFile)
    return { $file: [value.contentType, value.fileName, Buffer.from(value.bytes).toString()] };
  if (value instanceof FormUpload) return { $form: value.parts.map(([name, part]) => [name, shown(part)]) };
  return value;
}

const hubOf = ({ hub }: Recording): Json => read(hub) as Json;

describe('exchanges after the published examples of audio, images and Ollama', () => {
  it.each(FOLDERS)('%s has requests, responses and refusals, each with its page', (folder) => {
    const own = recordings.filter(({ provider }) => provider.startsWith(folder.replace(/-ai$/, '')));
    for (const field of ['request', 'translated', 'refusal'] as const)
      expect(own.some((recording) => field in recording)).toBe(true);
    for (const { source } of own) expect(source).toMatch(/^https:\/\//);
  });

  it.each(having('request'))('$provider $title: the request', (recording) => {
    const { path, body, headers } = translatorOf(recording).request(hubOf(recording), contextOf(recording));
    expect({ path, body: shown(body), ...(headers ? { headers } : {}) }).toEqual(recording.request);
  });

  it.each(having('refused'))(
    '$provider $title: what cannot be translated is refused by its name',
    (recording) => {
      expect(() => translatorOf(recording).request(hubOf(recording), contextOf(recording))).toThrow(
        recording.refused,
      );
    },
  );

  it.each(having('translated'))('$provider $title: the response', (recording) => {
    const translator = translatorOf(recording);
    const file = read(recording.file);
    const hub =
      file instanceof MediaFile && typeof translator.media === 'function'
        ? translator.media(file, contextOf(recording))
        : translator.answer(recording.answer ?? {}, contextOf(recording), hubOf(recording));
    expect(JSON.parse(JSON.stringify(hub))).toEqual(recording.translated);
  });

  it.each(having('rendered'))('$provider $title: in the format of the client', (recording) => {
    const { endpoint } = recording;
    const hub = translatorOf(recording).answer(
      recording.answer ?? {},
      contextOf(recording),
      hubOf(recording),
    );
    expect(shown(rendered(endpoint, hub, hubOf(recording)))).toEqual(recording.rendered);
  });

  it.each(having('lines'))('$provider $title: the stream, however it is cut', (recording) => {
    const { lines = [], chunks, isDone, error } = recording;
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    for (const size of [1, 7, bytes.length]) {
      const { stream } = translatorOf(recording);
      const decoder = decoderFor(stream?.framing ?? 'sse');
      const translator = stream?.open(contextOf(recording));
      const frames = [];
      for (let at = 0; at < bytes.length; at += size)
        frames.push(...decoder.feed(bytes.subarray(at, at + size)));
      const told = [...frames, ...decoder.end()].map((frame) => translator?.event(frame));
      told.push(translator?.end());
      expect(told.flatMap((step) => step?.chunks ?? [])).toEqual(chunks);
      expect(told.some((step) => step?.isDone)).toBe(isDone ?? false);
      expect(told.find((step) => step?.error)?.error).toEqual(error);
    }
  });

  it.each(having('refusal'))('$provider $title: the refusal', (recording) => {
    const { status = 0, refusal = null, error } = recording;
    expect(translatorOf(recording).error(status, refusal)).toEqual(error);
  });

  it.each(having('hub'))('$provider $title: a hostile response does not throw', (recording) => {
    const translator = translatorOf(recording);
    const odd = [
      {},
      { result: 1, words: [1], message: 7 },
      { items: [[]], results: { channels: [null] }, errors: 3 },
    ];
    for (const body of odd) {
      expect(() => translator.answer(body, contextOf(recording), hubOf(recording))).not.toThrow();
      expect(typeof translator.error(500, body).message).toBe('string');
    }
  });
});
