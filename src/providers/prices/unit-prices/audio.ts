import { each, LITELLM, type PlainUnitPriceRow } from './row.js';
import { VOICE_PRICES } from './voices.js';

/** Speech by the character, and transcription by the hour. */
export const AUDIO_PRICES: readonly PlainUnitPriceRow[] = [
  ...VOICE_PRICES,
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
    {
      provider: 'azure-openai',
      source: 'https://azure.microsoft.com/en-us/pricing/details/cognitive-services/openai-service/',
      checked: LITELLM,
    },
    'audioInputHour',
    { whisper: '0.36' },
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
    {
      provider: 'workers-ai',
      source: 'https://developers.cloudflare.com/workers-ai/models/whisper/',
      checked: LITELLM,
    },
    'audioInputHour',
    // By the minute: $0.00045 and $0.00051.
    { '@cf/openai/whisper': '0.027', '@cf/openai/whisper-large-v3-turbo': '0.0306' },
  ),
  ...each(
    {
      provider: 'groq',
      source: 'https://console.groq.com/docs/model/canopylabs/orpheus-v1-english',
      checked: LITELLM,
    },
    'millionInputCharacters',
    { 'canopylabs/orpheus-v1-english': '22' },
  ),
  ...each(
    { provider: 'groq', source: 'https://console.groq.com/docs/models', checked: LITELLM },
    'millionInputCharacters',
    { 'canopylabs/orpheus-arabic-saudi': '40' },
  ),
  ...each(
    { provider: 'assemblyai', source: 'https://www.assemblyai.com/pricing', checked: '2026-10-07' },
    'audioInputHour',
    { 'universal-2': '0.15', 'universal-3-5-pro': '0.21' },
  ),
];
