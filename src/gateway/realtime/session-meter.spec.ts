import { describe, expect, it } from 'vitest';
import { SessionMeter } from './session-meter.js';

const session = (model: string, transcription: string | null = null): object => ({
  type: 'session.created',
  session: { model, audio: { input: { transcription: transcription && { model: transcription } } } },
});
const done = (input: number, output: number, status = 'completed'): object => ({
  type: 'response.done',
  response: {
    status,
    usage: {
      input_tokens: input,
      output_tokens: output,
      input_token_details: { audio_tokens: 4, cached_tokens: 2 },
      output_token_details: { audio_tokens: 3 },
    },
  },
});
const ZERO = { input_tokens: 0, output_tokens: 0 };
const transcribed = (usage: object): object => ({
  type: 'conversation.item.input_audio_transcription.completed',
  usage,
});

function metered(...events: readonly object[]) {
  const prices: Readonly<Record<string, number>> = { 'gpt-realtime': 10, 'gpt-4o-transcribe': 1 };
  const heard: unknown[][] = [];
  const meter = new SessionMeter(
    'gpt-realtime',
    ({ input_tokens }, models) => {
      const price = models.map((model) => prices[model ?? '']).find((rate) => rate !== undefined);
      return price === undefined ? null : price * input_tokens;
    },
    {
      responseBegan: () => heard.push(['began']),
      responseEnded: (use, hasFailed) => heard.push(['ended', use.usage?.input_tokens, use.cost, hasFailed]),
      requestRefused: () => heard.push(['refused']),
      transcribed: ({ usage, cost }) => heard.push(['transcribed', usage?.input_tokens, cost]),
      audioDropped: () => heard.push(['dropped']),
      audioChanged: (characters) => heard.push(['format', characters]),
      outputConfirmed: (tokens) => heard.push(['output', tokens]),
      becameUnreadable: () => heard.push(['unreadable']),
    },
  );
  for (const event of events) meter.onText(Buffer.from(JSON.stringify(event)));
  return { meter, heard };
}

describe('SessionMeter', () => {
  it('reports the usage of every response at its price', () => {
    const { meter, heard } = metered(session('gpt-realtime-2025-08-28'), done(10, 5), done(20, 7));
    expect(heard).toEqual([
      ['ended', 10, 100, false],
      ['ended', 20, 200, false],
    ]);
    expect(meter.reading.responseModel).toBe('gpt-realtime-2025-08-28');
  });

  it('reports where responses begin, fail and are refused, and which audio is no input', () => {
    const { heard } = metered(
      { type: 'session.updated', session: { audio: { input: { format: { type: 'audio/pcmu' } } } } },
      { type: 'response.created', response: { usage: null } },
      { type: 'input_audio_buffer.speech_started' },
      { type: 'error', error: { code: 'conversation_already_has_active_response' } },
      { type: 'response.done', response: { status: 'failed', usage: null } },
    );
    expect(heard).toEqual([
      ['format', 533],
      ['began'],
      ['dropped'],
      ['refused'],
      ['ended', undefined, null, true],
    ]);
  });

  const spoken = { type: 'response.output_text.delta', delta: 'Hello' };
  const listed = { type: 'response.done', response: { output: [{ type: 'message' }], usage: ZERO } };
  it.each([
    ['pieces of it passed', [spoken, done(10, 0)]],
    ['its end lists some', [listed]],
  ])('rejects a response without output tokens where %s', (_, events) => {
    expect(metered(...events).heard).toEqual([['ended', undefined, null, false]]);
  });

  it('accepts a response without output tokens after which, and not before which, output passed', () => {
    const { heard } = metered(
      spoken,
      done(10, 5),
      done(20, 0),
      transcribed({ delta: 1 }),
      done(30, 0),
      spoken,
    );
    expect(heard.filter(([what]) => what === 'ended')).toEqual([
      ['ended', 10, 100, false],
      ['ended', 20, 200, false],
      ['ended', 30, 300, false],
    ]);
  });

  it('reports a transcription at the price of its own model', () => {
    const { heard } = metered(
      session('gpt-realtime', 'gpt-4o-transcribe'),
      transcribed({ type: 'tokens', input_tokens: 8, output_tokens: 2 }),
    );
    expect(heard).toEqual([['transcribed', 8, 8]]);
  });

  it('reports a transcription without a price or usage as unknown', () => {
    const { heard } = metered(
      session('gpt-realtime'),
      transcribed({ type: 'tokens', input_tokens: 8, output_tokens: 2 }),
      { type: 'conversation.item.input_audio_transcription.completed', item_id: '1', usage: null },
    );
    expect(heard).toEqual([
      ['transcribed', 8, null],
      ['transcribed', undefined, null],
    ]);
  });

  it('reports frames that are unreadable, but not one long message', () => {
    const { meter, heard } = metered();
    meter.onUnread(2_000_000);
    expect(heard).toEqual([]);
    meter.onUnread(null);
    expect(heard).toEqual([['unreadable']]);
  });

  it('survives anything that a server may send', () => {
    const { meter, heard } = metered(
      done(-1, 5),
      { type: 'response.done', response: null, usage: 7 },
      {},
      done(1, 1),
    );
    expect(heard.at(-1)).toEqual(['ended', 1, 10, false]);
    meter.onText(Buffer.from('"usage" is no JSON'));
  });
});
