import { describe, expect, it } from 'vitest';
import { SessionMeter } from './session-meter.js';

const session = (model: string, transcription: string | null = null): object => ({
  type: 'session.created',
  session: { model, audio: { input: { transcription: transcription && { model: transcription } } } },
});
const done = (input: number, output: number): object => ({
  type: 'response.done',
  response: {
    usage: {
      input_tokens: input,
      output_tokens: output,
      input_token_details: { audio_tokens: 4, cached_tokens: 2 },
      output_token_details: { audio_tokens: 3 },
    },
  },
});
const transcribed = (usage: object): object => ({
  type: 'conversation.item.input_audio_transcription.completed',
  usage,
});

function metered(...events: readonly object[]): SessionMeter {
  const prices: Readonly<Record<string, number>> = { 'gpt-realtime': 10, 'gpt-4o-transcribe': 1 };
  const meter = new SessionMeter('gpt-realtime', ({ input_tokens }, models) => {
    const price = models.map((model) => prices[model ?? '']).find((rate) => rate !== undefined);
    return price === undefined ? null : price * input_tokens;
  });
  for (const event of events) meter.onText(Buffer.from(JSON.stringify(event)));
  return meter;
}

describe('SessionMeter', () => {
  it('adds the usage of every response up', () => {
    const { reading, cost } = metered(session('gpt-realtime-2025-08-28'), done(10, 5), done(20, 7));
    expect(reading.usage).toEqual({
      input_tokens: 30,
      output_tokens: 12,
      cached_input_tokens: 4,
      audio_input_tokens: 8,
      audio_output_tokens: 6,
    });
    expect(reading.responseModel).toBe('gpt-realtime-2025-08-28');
    expect(cost).toBe(300);
  });

  it('charges a transcription at the price of its own model', () => {
    const { reading, cost } = metered(
      session('gpt-realtime', 'gpt-4o-transcribe'),
      done(10, 5),
      transcribed({ type: 'tokens', input_tokens: 8, output_tokens: 2 }),
    );
    expect(reading.usage).toMatchObject({ input_tokens: 18, output_tokens: 7 });
    expect(cost).toBe(108);
  });

  it.each([
    ['is charged by the second', [transcribed({ type: 'duration', seconds: 5 })]],
    ['is of a model that nobody named', [transcribed({ type: 'tokens', input_tokens: 8, output_tokens: 2 })]],
  ])('knows no cost where a transcription %s', (_, events) => {
    expect(metered(session('gpt-realtime'), done(10, 5), ...events).cost).toBeNull();
  });

  it('knows no cost once a message went by unread', () => {
    const meter = metered(done(10, 5));
    meter.onUnread();
    expect(meter.cost).toBeNull();
    expect(meter.reading.usage).toMatchObject({ input_tokens: 10 });
  });

  it('takes anything that a server may say', () => {
    const meter = metered(done(-1, 5), { type: 'response.done', response: null, usage: 7 }, {}, done(1, 1));
    expect(meter.reading.usage).toMatchObject({ input_tokens: 1, output_tokens: 1 });
    meter.onText(Buffer.from('"usage" is no JSON'));
  });
});
