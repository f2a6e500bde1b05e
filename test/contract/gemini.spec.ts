import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gemini, vertex } from '../../src/providers/dialects/gemini/index.js';
import type { EndpointId, Json } from '../../src/providers/endpoint.js';
import type { Context, HubError, Translator } from '../../src/providers/translation.js';

/** One exchange after Google's published examples; each half of it is there where it is looked at. */
interface Recording {
  readonly title: string;
  /** Page of the example. */
  readonly source: string;
  readonly dialect: 'gemini' | 'vertex';
  readonly endpoint: EndpointId;
  readonly model: string;
  readonly isStreamed?: boolean;
  readonly isStrict?: boolean;
  readonly hub?: Json;
  readonly request?: Json;
  readonly answer?: Json;
  readonly translated?: Json;
  readonly events?: readonly Json[];
  readonly chunks?: readonly Json[];
  readonly isDone?: boolean;
  readonly status?: number;
  readonly refusal?: Json;
  readonly error?: HubError;
}

const folder = new URL('./recordings/gemini/', import.meta.url);
const recordings = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recording,
);

function translatorOf({ dialect, endpoint }: Recording): Translator {
  const translator = { gemini, vertex }[dialect].translators?.[endpoint];
  if (!translator) throw new Error(`The dialect ${dialect} translates no ${endpoint}.`);
  return translator;
}

const contextOf = ({ model, isStreamed = false, isStrict = true }: Recording): Context => ({
  id: 'exchange-1',
  created: 1_700_000_000,
  model,
  isStreamed,
  fields: {},
  isStrict,
});

const having = (field: keyof Recording) => recordings.filter((recording) => field in recording);

describe("exchanges after Google's published examples", () => {
  it('are all there', () => {
    expect(recordings.length).toBe(12);
  });

  it.each(having('request'))('$title: the request', (recording) => {
    const { hub = {}, request } = recording;
    expect(translatorOf(recording).request(hub, contextOf(recording))).toEqual(request);
  });

  it.each(having('answer'))('$title: the response', (recording) => {
    const { answer = {}, translated } = recording;
    expect(translatorOf(recording).answer(answer, contextOf(recording))).toEqual(translated);
  });

  it.each(having('refusal'))('$title: the refusal', (recording) => {
    const { status = 0, refusal = null, error } = recording;
    expect(translatorOf(recording).error(status, refusal)).toEqual(error);
  });

  it.each(having('events'))('$title: the stream', (recording) => {
    const stream = translatorOf(recording).stream?.open(contextOf(recording));
    const steps = (recording.events ?? []).map((event) =>
      stream?.event({ event: null, data: JSON.stringify(event) }),
    );
    const error = steps.find((step) => step?.error)?.error;
    const end = error ? undefined : stream?.end();
    expect([...steps, end].flatMap((step) => step?.chunks ?? [])).toEqual(recording.chunks);
    expect(end?.isDone === true).toBe(recording.isDone);
    expect(error).toEqual(recording.error);
  });
});
