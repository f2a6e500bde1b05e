import { each, LITELLM, type PlainUnitPriceRow } from './row.js';

const VEO = 'https://cloud.google.com/gemini-enterprise-agent-platform/generative-ai/pricing#veo';

/** Models with the same price per second at every resolution, with or without audio. */
export const VIDEO_PRICES: readonly PlainUnitPriceRow[] = [
  ...each(
    { provider: 'openai', source: 'https://developers.openai.com/api/docs/pricing', checked: LITELLM },
    'videoOutputSecond',
    { 'sora-2': '0.1' },
  ),
  ...['vertex-ai', 'vertex-ai-global'].flatMap((provider) =>
    each({ provider, source: VEO, checked: LITELLM }, 'videoOutputSecond', { 'veo-2.0-generate-001': '0.5' }),
  ),
  ...each(
    { provider: 'runway', source: 'https://docs.dev.runwayml.com/guides/pricing/', checked: LITELLM },
    'videoOutputSecond',
    { gen4_turbo: '0.05', 'gen4.5': '0.12' },
  ),
];
