import type { PlainUnit, PlainUnitPriceRow } from './row.js';

type Page = Pick<PlainUnitPriceRow, 'provider' | 'source' | 'checked'>;

const each = (page: Page, unit: PlainUnit, amounts: Record<string, string>): readonly PlainUnitPriceRow[] =>
  Object.entries(amounts).map(([model, amount]) => ({ ...page, model, unit, amount }));

/** Speech by the character, and transcription by the hour. */
export const AUDIO_PRICES: readonly PlainUnitPriceRow[] = [
  ...each(
    {
      provider: 'openai',
      source: 'https://developers.openai.com/api/docs/models/tts-1',
      checked: '2025-11-02',
    },
    'millionInputCharacters',
    { 'tts-1': '15', 'tts-1-1106': '15', 'tts-1-hd': '30', 'tts-1-hd-1106': '30' },
  ),
  ...each(
    {
      provider: 'azure-openai',
      source: 'https://azure.microsoft.com/en-us/pricing/details/cognitive-services/openai-service/',
      checked: '2025-06-30',
    },
    'millionInputCharacters',
    { tts: '15', 'tts-hd': '30' },
  ),
  ...each(
    { provider: 'deepgram', source: 'https://deepgram.com/pricing', checked: '2025-06-30' },
    'millionInputCharacters',
    { 'aura-2-*': '30' },
  ),
  ...each(
    {
      provider: 'workers-ai',
      source: 'https://developers.cloudflare.com/workers-ai/platform/pricing/',
      checked: '2025-08-27',
    },
    'millionInputCharacters',
    { '@cf/deepgram/aura-1': '15' },
  ),
  ...each(
    { provider: 'assemblyai', source: 'https://www.assemblyai.com/pricing', checked: '2026-10-07' },
    'audioInputHour',
    { 'universal-2': '0.15', 'universal-3-5-pro': '0.21' },
  ),
];
