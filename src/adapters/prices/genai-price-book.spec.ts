import {
  calcPrice,
  findProvider as findListed,
  type MatchLogic,
  type ModelInfo,
} from '@pydantic/genai-prices';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import { costOf } from '../../providers/prices/cost.js';
import { isPrice } from '../../providers/prices/price.js';
import { providers } from '../../providers/catalog/registry.js';
import { GenaiPriceBook } from './genai-price-book.js';

const now = new Date('2026-11-20T12:00:00Z');

/** Usages with every kind of token, below and above each threshold in the data, and never at a round number. */
const usages: Usage[] = [
  { input_tokens: 0, output_tokens: 0 },
  { input_tokens: 1, output_tokens: 1 },
  { input_tokens: 12_345, output_tokens: 6789 },
  { input_tokens: 127_999, output_tokens: 3, cached_input_tokens: 100_001 },
  { input_tokens: 200_001, output_tokens: 777, cached_input_tokens: 3, cache_write_tokens: 11 },
  { input_tokens: 271_999, output_tokens: 1, reasoning_tokens: 1 },
  { input_tokens: 272_000, output_tokens: 99, cached_input_tokens: 272_000 },
  { input_tokens: 999_983, output_tokens: 65_521, reasoning_tokens: 1009, cache_write_tokens: 17 },
  { input_tokens: 5003, output_tokens: 5009, audio_input_tokens: 1201, audio_output_tokens: 1301 },
];

const ONE_HOUR = { input_tokens: 150, cache_write_tokens: 150, cache_write_1h_tokens: 100 };
const CACHED_SOUND = {
  input_tokens: 100,
  audio_input_tokens: 100,
  cached_input_tokens: 30,
  cached_audio_input_tokens: 30,
};

/** The package requires a number for each kind that two others overlap in. */
const theirs = (usage: Usage) => ({
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cache_read_tokens: usage.cached_input_tokens ?? 0,
  cache_write_tokens: usage.cache_write_tokens ?? 0,
  input_audio_tokens: usage.audio_input_tokens ?? 0,
  output_audio_tokens: usage.audio_output_tokens ?? 0,
  output_reasoning_tokens: usage.reasoning_tokens ?? 0,
  cache_audio_read_tokens: 0,
});

const rows = [...providers.values()].filter(({ pricesId, prices }) => pricesId !== null && !prices);
const listedOf = (id: string, pricesId: string | null | undefined) => {
  const listed = findListed({ providerId: pricesId ?? id });
  if (!listed) throw new Error(`the price data does not know ${id}`);
  return listed;
};
const lists = (model: ModelInfo) =>
  [model.prices].flat().map((entry) => ('prices' in entry ? entry.prices : entry) as Record<string, unknown>);
/** Chat models: text in, text out, both charged by the token, and nothing else charged. */
const isChat = (model: ModelInfo) =>
  lists(model).every(
    (prices) =>
      prices.input_mtok !== undefined &&
      prices.output_mtok !== undefined &&
      prices.requests_kcount === undefined,
  );
/** The names by which callers can request a model, as far as the data spells them out. */
const namesOf = ({ id, match }: ModelInfo): string[] => [id, ...literals(match)];
const literals = (match: MatchLogic): string[] => {
  if ('or' in match) return match.or.flatMap(literals);
  if ('and' in match) return match.and.flatMap(literals);
  return Object.values(match).filter((value) => /^[\w./:@-]+$/.test(value));
};

describe('GenaiPriceBook', () => {
  const book = new GenaiPriceBook();

  beforeEach(() => vi.useFakeTimers({ now, toFake: ['Date'] }));
  afterEach(() => vi.useRealTimers());

  it.each(rows)('costs what the package says for every chat model of $id', ({ id, pricesId }) => {
    let compared = 0;
    const chats = listedOf(id, pricesId).models.filter(isChat);
    for (const name of chats.flatMap(namesOf)) {
      for (const usage of usages) {
        const expected = calcPrice(theirs(usage), name, { providerId: pricesId ?? id, timestamp: now });
        if (!expected || !isChat(expected.model)) continue;
        const price = book.find(id, name);
        if (!price) throw new Error(`${id} ${name} has no price`);

        const difference = (costOf(usage, price) ?? Number.NaN) - expected.total_price * 1e9;
        expect(Math.abs(difference), `${name} ${JSON.stringify(usage)}`).toBeLessThanOrEqual(1);
        compared++;
      }
    }
    expect(compared).toBeGreaterThanOrEqual(usages.length * Math.min(chats.length, 3));
  });

  it.each(rows)('knows what to do with every kind of price of $id', ({ id, pricesId }) => {
    const charged = [
      'input_mtok',
      'output_mtok',
      'cache_read_mtok',
      'cache_write_mtok',
      'input_audio_mtok',
      'output_audio_mtok',
      'output_reasoning_mtok',
      'cache_audio_read_mtok',
      'cache_write_1h_mtok',
      'input_video_mtok',
      'output_video_mtok',
      'output_citation_mtok',
      'requests_kcount',
      'input_image_mtok',
      'output_image_mtok',
      'cache_image_read_mtok',
      'web_searches_kcount',
      'storage_searches_kcount',
      'input_audio_hours',
      'input_document_kpages',
      'input_annotated_document_kpages',
    ];
    // xAI's sessions report audio that is charged in no documented way; its cost stays unknown.
    const notInAUsage = ['audio_hours', 'input_text_messages_kcount'];
    const listed = listedOf(id, pricesId).models.flatMap(lists).flatMap(Object.keys);

    expect(
      [...new Set(listed)].filter((key) => !charged.includes(key) && !notInAUsage.includes(key)),
    ).toEqual([]);
  });

  it.each(['GPT-4o', ' gpt-4o ', 'openai/gpt-4o', 'OpenAI/gpt-4o'])('knows gpt-4o as %j too', (model) => {
    const book = new GenaiPriceBook();
    expect(book.find('openai', model)).toEqual(book.find('openai', 'gpt-4o'));
  });

  it('gives prices that can be charged exactly', () => {
    for (const { id, pricesId } of rows) {
      for (const model of listedOf(id, pricesId).models) {
        const price = book.find(id, model.id);
        expect(price === null || isPrice(price), `${id} ${model.id}`).toBe(true);
      }
    }
  });

  it('knows tiers by the length of the request', () => {
    expect(book.find('openai', 'gpt-5.6-sol')?.tiers).toMatchObject([{ aboveInputTokens: 271_999 }]);
  });

  it('follows the time of day where a provider does', () => {
    const inputAt = (time: string) => {
      vi.setSystemTime(new Date(time));
      return book.find('deepseek', 'deepseek-v4-flash')?.input;
    };

    expect(inputAt('2026-11-20T02:00:00Z')).toBe(440_000_000);
    expect(inputAt('2026-11-20T05:00:00Z')).toBe(220_000_000);
    expect(inputAt('2026-08-16T05:00:00Z')).toBe(140_000_000);
  });

  it.each([
    ['a model that nobody lists', 'openai', 'gpt-99-imaginary'],
    ['a model whose price nobody entered', 'cerebras', 'qwen-3-coder-480b'],
    ['a provider that the data does not know', 'deepinfra', 'meta-llama/Meta-Llama-3.1-8B-Instruct'],
    ['a provider that does not exist', 'nobody', 'gpt-5'],
    ['no model', 'openai', ''],
    ['a name without end', 'openai', 'gpt-5'.repeat(100_000)],
  ])('has no price for %s', (_, provider, model) => {
    expect(book.find(provider, model)).toBeNull();
    expect(book.find(provider, model)).toBeNull();
  });

  it.each([
    ['sound by the hour', 'openai', 'whisper-1', { audio_input_ms: 60_000 }, 6_000_000],
    [
      'short sound as ten seconds, as Groq does',
      'groq',
      'whisper-large-v3',
      { audio_input_ms: 900 },
      (10 * 111_000_000) / 3600,
    ],
    [
      'sound that has tokens beside it',
      'mistral-ai',
      'voxtral-mini-latest',
      { input_tokens: 4, output_tokens: 635, audio_input_ms: 60_000 },
      3_000_000,
    ],
    ['pages', 'mistral-ai', 'mistral-ocr-latest', { document_pages: 3 }, 12_000_000],
    [
      'annotated pages',
      'mistral-ai',
      'mistral-ocr-2512',
      { document_pages: 3, annotated_pages: 3 },
      9_000_000,
    ],
    ['the thousand requests', 'perplexity-ai', 'sonar', { input_tokens: 10 }, 12_000_000 + 10_000],
    ['searches by the thousand', 'anthropic', 'claude-sonnet-4-5', { web_searches: 3 }, 30_000_000],
    ['what is cached for an hour', 'anthropic', 'claude-sonnet-4-5', ONE_HOUR, 100 * 6_000 + 50 * 3_750],
    ['cached sound', 'openai', 'gpt-realtime', CACHED_SOUND, 30 * 400 + 70 * 32_000],
    [
      'pictures',
      'google',
      'gemini-3-pro-image',
      { output_tokens: 10, image_output_tokens: 8 },
      8 * 120_000 + 2 * 12_000,
    ],
  ])('charges %s', (_, provider, model, usage, nano) => {
    const price = book.find(provider, model);
    expect(price && costOf({ input_tokens: 0, output_tokens: 0, ...usage }, price)).toBe(Math.round(nano));
  });

  it.each([
    ['groq', 'whisper-large-v3-turbo', { audio_input_ms: 4_200 }, { input_audio_seconds: 4.2 }],
    ['groq', 'whisper-large-v3-turbo', { audio_input_ms: 98_700 }, { input_audio_seconds: 98.7 }],
    ['openai', 'whisper-1', { audio_input_ms: 4_000 }, { audio_seconds: 4, input_audio_seconds: 4 }],
    ['mistral-ai', 'mistral-ocr-2503', { document_pages: 7 }, { input_document_pages: 7 }],
    [
      'mistral-ai',
      'mistral-ocr-4-1',
      { document_pages: 7, annotated_pages: 7 },
      { input_document_pages: 7, input_annotated_document_pages: 7 },
    ],
  ])('charges units of %s for %s as the package does: %j', (id, model, usage, told) => {
    const { pricesId } = providers.get(id) ?? {};
    const expected = calcPrice(told, model, { providerId: pricesId ?? id, timestamp: now });
    const price = book.find(id, model);
    const cost = price && costOf({ input_tokens: 0, output_tokens: 0, ...usage }, price);

    expect(Math.abs((cost ?? Number.NaN) - (expected?.total_price ?? 0) * 1e9)).toBeLessThanOrEqual(1);
  });

  it('has no price for annotations of a model that makes none, nor for sessions of xAI', () => {
    const first = book.find('mistral-ai', 'mistral-ocr-2503');
    const annotated = { input_tokens: 0, output_tokens: 0, document_pages: 1, annotated_pages: 1 };

    expect(first && costOf(annotated, first)).toBeNull();
    expect(book.find('x-ai', 'grok-voice-latest')).toBeNull();
  });

  it('charges the sandbox in play money, by its own row', () => {
    expect(book.find('sandbox', 'sandbox-1')).toMatchObject({ input: 1_000_000_000, output: 2_000_000_000 });
    expect(book.find('sandbox', 'gpt-5')).toBeNull();
  });

  it('drops models rather than keep every name that a caller invents', () => {
    for (let index = 0; index < 10_000; index++) book.find('groq', `invented-${index}`);

    expect((book as unknown as { schedules: Map<string, unknown> }).schedules.size).toBeLessThanOrEqual(4096);
    expect(book.find('groq', 'openai/gpt-oss-120b')).not.toBeNull();
  });
});
