import { type ImagePriceRow, LITELLM, type PricePage } from './row.js';

/** One price for every size and quality. */
const flat = (page: PricePage, amounts: Readonly<Record<string, string>>): readonly ImagePriceRow[] =>
  Object.entries(amounts).map(([model, amount]) => ({
    ...page,
    model,
    unit: 'images',
    size: null,
    quality: null,
    amount,
  }));

/** Sizes by quality; the quality `any` matches every quality. */
const sized = (
  page: PricePage,
  model: string,
  qualities: Record<string, Record<string, string>>,
): readonly ImagePriceRow[] =>
  Object.entries(qualities).flatMap(([quality, sizes]) =>
    Object.entries(sizes).map(([size, amount]) => ({
      ...page,
      model,
      unit: 'images' as const,
      size,
      quality: quality === 'any' ? null : quality,
      amount,
    })),
  );

const DALL_E: PricePage = {
  provider: 'openai',
  source: 'https://platform.openai.com/docs/pricing',
  checked: '2025-06-30',
};
const IMAGEN: PricePage = {
  provider: 'google',
  source: 'https://ai.google.dev/gemini-api/docs/pricing',
  checked: '2025-09-30',
};
const STABILITY: PricePage = {
  provider: 'stability-ai',
  source: 'https://platform.stability.ai/pricing',
  checked: '2026-06-01',
};
/** From LiteLLM 1.96.2, the last data that has them; https://github.com/Portkey-AI/models of 2026-08-21 agrees. */
const VERTEX = { source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing', checked: '2026-08-14' };
const VERTEX_IMAGES = {
  'imagen-4.0-generate-001': '0.04',
  'imagen-4.0-fast-generate-001': '0.02',
  'imagen-4.0-ultra-generate-001': '0.06',
  'imagen-3.0-generate-002': '0.04',
  'imagen-3.0-generate-001': '0.04',
  'imagen-3.0-fast-generate-001': '0.02',
};
/** In credits; one is a cent. */
const STABILITY_EDITS: PricePage = {
  provider: 'stability-ai',
  source: 'https://stability.ai/api-pricing-update-25',
  checked: '2025-08-01',
};

export const IMAGE_PRICES: readonly ImagePriceRow[] = [
  ...sized(DALL_E, 'dall-e-3', {
    standard: { '1024x1024': '0.04', '1024x1792': '0.08', '1792x1024': '0.08' },
    hd: { '1024x1024': '0.08', '1024x1792': '0.12', '1792x1024': '0.12' },
  }),
  ...sized(DALL_E, 'dall-e-2', { any: { '256x256': '0.016', '512x512': '0.018', '1024x1024': '0.02' } }),
  ...flat(IMAGEN, {
    'imagen-4.0-generate-001': '0.04',
    'imagen-4.0-fast-generate-001': '0.02',
    'imagen-4.0-ultra-generate-001': '0.06',
    'imagen-3.0-generate-002': '0.03',
  }),
  ...flat(STABILITY, {
    'stable-image-ultra': '0.08',
    'stable-image-core': '0.03',
    ultra: '0.08',
    core: '0.03',
    'sd3.5-large': '0.065',
    'sd3.5-large-turbo': '0.04',
    'sd3.5-medium': '0.035',
  }),
  ...flat(STABILITY_EDITS, {
    inpaint: '0.05',
    erase: '0.05',
    'search-and-replace': '0.05',
    'remove-background': '0.05',
  }),
  ...flat(
    {
      provider: 'black-forest-labs',
      source: 'https://docs.bfl.ai/quick_start/pricing',
      checked: '2026-11-16',
    },
    { 'flux-pro-1.1': '0.04' },
  ),
  ...flat(
    { provider: 'black-forest-labs', source: 'https://bfl.ai/pricing', checked: LITELLM },
    {
      'flux-pro-1.1-ultra': '0.06',
      'flux-pro-1.0-fill': '0.05',
      'flux-pro-1.0-expand': '0.05',
      'flux-pro': '0.05',
      'flux-dev': '0.025',
      'flux-kontext-pro': '0.04',
      'flux-kontext-max': '0.08',
    },
  ),
  ...flat(
    { provider: 'recraft-ai', source: 'https://www.recraft.ai/docs#pricing', checked: LITELLM },
    { recraftv3: '0.04', recraftv2: '0.022' },
  ),
  ...flat(
    { provider: 'runway', source: 'https://docs.dev.runwayml.com/guides/pricing/', checked: LITELLM },
    { gen4_image_turbo: '0.02' },
  ),
  ...['vertex-ai', 'vertex-ai-global'].flatMap((provider) => flat({ ...VERTEX, provider }, VERTEX_IMAGES)),
  ...flat(
    { provider: 'replicate', source: 'https://replicate.com/pricing', checked: '2026-10-07' },
    {
      'black-forest-labs/flux-1.1-pro': '0.04',
      'black-forest-labs/flux-dev': '0.025',
      'black-forest-labs/flux-schnell': '0.003',
      'ideogram-ai/ideogram-v3-quality': '0.09',
    },
  ),
];
