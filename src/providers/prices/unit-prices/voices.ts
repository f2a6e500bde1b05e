import { each, LITELLM, type PricePage, type PlainUnitPriceRow } from './row.js';

const ELEVENLABS: PricePage = {
  provider: 'elevenlabs',
  source: 'https://elevenlabs.io/pricing/api',
  checked: LITELLM,
};
const DEEPGRAM: PricePage = {
  provider: 'deepgram',
  source: 'https://deepgram.com/pricing',
  checked: LITELLM,
};
const mistral = (card: string): PricePage => ({
  provider: 'mistral-ai',
  source: `https://docs.mistral.ai/models/${card}`,
  checked: LITELLM,
});

const VOICES_OF_AURA_1 = [
  ...['angus', 'arcas', 'asteria', 'athena', 'helios', 'hera'],
  ...['luna', 'orion', 'orpheus', 'perseus', 'stella', 'zeus'],
];
/** Families whose specialized models, `nova-2-phonecall`, cost the same. By the minute: $0.0043, $0.0145 and $0.0125. */
const DEEPGRAM_HOURS = {
  '0.258': ['nova-3', 'nova-3-general', 'nova-2', 'nova-2-*', 'nova', 'nova-general', 'nova-phonecall'],
  '0.87': ['enhanced', 'enhanced-*'],
  '0.75': ['base', 'base-*'],
};

/** Speech providers' prices without a plan or agreement, and without paid extras. */
export const VOICE_PRICES: readonly PlainUnitPriceRow[] = [
  ...each(ELEVENLABS, 'millionInputCharacters', {
    eleven_v4: '80',
    eleven_v4_turbo: '40',
    eleven_v3: '80',
    eleven_v3_conversational: '40',
    eleven_multilingual_v2: '80',
    eleven_flash_v2_5: '40',
    eleven_flash_v2: '40',
    eleven_turbo_v2_5: '40',
    eleven_turbo_v2: '40',
  }),
  ...each(ELEVENLABS, 'audioInputHour', { scribe_v2: '0.22' }),
  ...each(DEEPGRAM, 'millionInputCharacters', { aura: '15', 'aura-2': '30', 'aura-2-*': '30' }),
  ...each(
    DEEPGRAM,
    'millionInputCharacters',
    Object.fromEntries(VOICES_OF_AURA_1.map((voice) => [`aura-${voice}-en`, '15'])),
  ),
  ...Object.entries(DEEPGRAM_HOURS).flatMap(([amount, models]) =>
    each(DEEPGRAM, 'audioInputHour', Object.fromEntries(models.map((model) => [model, amount]))),
  ),
  ...each(mistral('voxtral-mini-transcribe-3-0'), 'audioInputHour', {
    'voxtral-mini-transcribe-3': '0.21',
    'voxtral-mini-transcribe-3-0': '0.21',
  }),
  ...each(mistral('voxtral-small-transcribe-3-0'), 'audioInputHour', {
    'voxtral-small-transcribe-3': '0.24',
    'voxtral-small-transcribe-3-0': '0.24',
  }),
  ...each(mistral('voxtral-mini-tts-3-0'), 'millionInputCharacters', {
    'voxtral-mini-tts-3': '13',
    'voxtral-mini-tts-3-0': '13',
  }),
  ...each(mistral('model-cards/voxtral-tts-26-03'), 'millionInputCharacters', {
    'voxtral-mini-tts-2603': '16',
  }),
];
