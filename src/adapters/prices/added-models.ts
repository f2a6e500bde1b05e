import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import type { PricedProvider } from './price-document.js';

/** Dollars per million tokens, as the provider's page states them. */
interface MillionTokenRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** A model that the price package lacks. Never add an amount that no published page states. */
interface AddedModel extends MillionTokenRates {
  readonly id: string;
  readonly name: string;
  readonly contextWindow?: number;
  /** The rates of a whole request with more input. */
  readonly above?: MillionTokenRates & { readonly tokens: number };
  /** The pages with the amounts, read on 2026-11-28. */
  readonly sources: readonly string[];
}

const ANTHROPIC_PAGE = 'https://platform.claude.com/docs/en/about-claude/pricing';

const ANTHROPIC: readonly AddedModel[] = [
  {
    // Cache reads were halved on 2026-10-07.
    ...{ id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', contextWindow: 1_000_000 },
    ...{ input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, cacheWrite1h: 4 },
    sources: [ANTHROPIC_PAGE, 'https://github.com/kurofune/claudit/releases/tag/v1.9.2'],
  },
  {
    id: 'claude-haiku-5-5',
    name: 'Claude Haiku 5.5',
    ...{ input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWrite1h: 0.2 },
    above: {
      tokens: 100_000,
      ...{ input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWrite1h: 1 },
    },
    sources: [ANTHROPIC_PAGE, 'https://github.com/kurofune/claudit/releases/tag/v1.9.2'],
  },
  {
    id: 'claude-fable-5-2',
    name: 'Claude Fable 5.2',
    ...{ input: 8, output: 40, cacheRead: 0.2, cacheWrite: 10, cacheWrite1h: 16 },
    sources: [ANTHROPIC_PAGE, 'https://github.com/archid21/rightsize/releases/tag/v0.10.2'],
  },
  {
    ...{ id: 'claude-mythos-5', name: 'Claude Mythos 5', contextWindow: 1_000_000 },
    ...{ input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, cacheWrite1h: 20 },
    sources: [ANTHROPIC_PAGE],
  },
  {
    ...{ id: 'claude-mythos-5-1', name: 'Claude Mythos 5.1', contextWindow: 1_000_000 },
    ...{ input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5, cacheWrite1h: 20 },
    sources: [ANTHROPIC_PAGE],
  },
];

const SOL: MillionTokenRates = { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 };
const LONG_SOL = { tokens: 272_000, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 };

/** Both spellings of Daybreak's names are aliases: blue of GPT-5.6 Sol, red of GPT-5.6 Cyber. */
const CYBER_MODELS = 'https://developers.openai.com/api/docs/pricing#cyber-models';
const BLUE: Omit<AddedModel, 'id'> = {
  ...{ name: 'Daybreak Blue', contextWindow: 1_050_000 },
  ...{ input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 },
  above: { tokens: 272_000, input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 },
  sources: [CYBER_MODELS, 'https://developers.openai.com/api/docs/models/daybreak-blue-latest'],
};
const CYBER: Omit<AddedModel, 'id' | 'name'> = {
  ...{ contextWindow: 400_000, input: 12.5, output: 75, cacheRead: 1.25, cacheWrite: 15.625 },
  sources: [CYBER_MODELS, 'https://developers.openai.com/api/docs/models/gpt-5.6-cyber'],
};

const OPENAI: readonly AddedModel[] = [
  { id: 'gpt-daybreak-blue-latest', ...BLUE },
  { id: 'daybreak-blue-latest', ...BLUE },
  { id: 'gpt-daybreak-red-latest', name: 'Daybreak Red', ...CYBER },
  { id: 'daybreak-red-latest', name: 'Daybreak Red', ...CYBER },
  { id: 'gpt-5.6-cyber', name: 'GPT-5.6 Cyber', ...CYBER },
  {
    ...{ id: 'gpt-6.2-sol', name: 'GPT-6.2 Sol', contextWindow: 1_050_000, ...SOL, above: LONG_SOL },
    sources: ['https://developers.openai.com/api/docs/models/gpt-6.2-sol'],
  },
  {
    ...{ id: 'gpt-6.1-sol', name: 'GPT-6.1 Sol', contextWindow: 1_050_000, ...SOL, above: LONG_SOL },
    sources: [
      'https://developers.openai.com/api/docs/models/gpt-6.1-sol',
      'https://wavespeed.ai/llm/openai/gpt-6.1-sol',
    ],
  },
  {
    ...{ id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra', contextWindow: 1_050_000 },
    ...{ input: 1, output: 5, cacheRead: 0.05, cacheWrite: 1.25 },
    above: { tokens: 272_000, input: 2, output: 7.5, cacheRead: 0.1, cacheWrite: 2.5 },
    sources: ['https://developers.openai.com/api/docs/models/gpt-6.1-terra'],
  },
  {
    // The rates above 272,000 tokens and of cache writes were not found.
    ...{
      id: 'gpt-6.2-astra',
      name: 'GPT-6.2 Astra',
      contextWindow: 1_050_000,
      input: 8,
      output: 40,
      cacheRead: 0.4,
    },
    sources: [
      'https://docs.laozhang.ai/en/announcements/gpt-6-2-2026-11.md',
      'https://github.com/BerriAI/litellm/discussions/52347',
      'https://github.com/akiiwa-games/AgentCompass-Router/releases/tag/v0.6.8',
    ],
  },
];

const KEYS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
} as const satisfies Record<keyof MillionTokenRates, string>;

/** Searches have one price for all models of a provider. */
const SEARCHES = {
  anthropic: { web_searches_kcount: 10 },
  openai: { web_searches_kcount: 10, storage_searches_kcount: 2.5 },
} as const;

/** In the format of the price data, which it complements. */
export const ADDED_MODELS: readonly PricedProvider[] = [
  { id: 'anthropic', models: ANTHROPIC.map((model) => entryOf(model, SEARCHES.anthropic)) },
  { id: 'openai', models: OPENAI.map((model) => entryOf(model, SEARCHES.openai)) },
];

/** Dated names belong to the same model. */
function entryOf(model: AddedModel, searches: ModelPrice): ModelInfo {
  const { id, name, contextWindow, sources } = model;
  const dated = `^${id.replaceAll('.', '\\.')}-(?:\\d{8}|\\d{4}-\\d{2}-\\d{2})$`;
  return {
    id,
    name,
    match: { or: [{ equals: id }, { regex: dated }] },
    ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    price_comments: sources.join(' '),
    prices: { ...ratesOf(model), ...searches },
  };
}

function ratesOf({ above, ...rates }: AddedModel): ModelPrice {
  const kinds = Object.keys(KEYS) as (keyof MillionTokenRates)[];
  const entries = kinds.flatMap((kind) => {
    const base = rates[kind];
    if (base === undefined) return [];
    const price = above?.[kind];
    const tiered = above && price !== undefined && { base, tiers: [{ start: above.tokens, price }] };
    return [[KEYS[kind], tiered ? tiered : base] as const];
  });
  return Object.fromEntries(entries);
}
