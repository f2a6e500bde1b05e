import { parameterError } from '../../../common/errors/field-errors.js';
import type { Json } from '../../endpoint.js';
import { list, stringify } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { bedrockError } from './errors.js';
import { bedrockModelPath } from './models.js';
import { withoutNulls } from '../asked-media.js';
import { sizeOf, stabilityRatio } from '../image-sizes.js';
import { unsupportedParameter } from '../refusing.js';

/** The InvokeModel body of a family of image models. */
type ImageBodyWriter = (hub: Json) => Json;

const MODELS: readonly (readonly [RegExp, ImageBodyWriter])[] = [
  [/nova-canvas|titan-image/, amazonBody],
  [/stability\./, stabilityBody],
];

/** Parameters of the hub that are translated here; others are passed on. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'seed',
  'negative_prompt',
  'response_format',
  'user',
  'stream',
]);

/** Parameters of the hub that none of these models supports, with the JSON of the values that have no effect. */
const IMPOSSIBLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['background', ['"auto"']],
  ['moderation', ['"auto"']],
  ['output_compression', []],
  ['partial_images', ['0']],
  ['stream', ['false']],
  ['style', []],
]);

function request(hub: Json, { model }: Context): ProviderRequest {
  const toBody = MODELS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1];
  if (!toBody)
    throw unsupportedParameter(
      'model',
      'on Bedrock, only Amazon Nova Canvas, Titan and Stability AI models make images',
    );
  if (typeof hub.prompt !== 'string') throw parameterError('prompt', 'must be a string');
  refuseImpossible(hub);
  const others = Object.entries(hub).filter(([name]) => !TRANSLATED.has(name) && !IMPOSSIBLE.has(name));
  return { path: bedrockModelPath(model, 'invoke'), body: { ...Object.fromEntries(others), ...toBody(hub) } };
}

function refuseImpossible(hub: Json): void {
  for (const [parameter, harmless] of IMPOSSIBLE) {
    const value = hub[parameter] ?? null;
    if (value !== null && !harmless.includes(stringify(value)))
      throw unsupportedParameter(parameter, 'Bedrock has no such control of images');
  }
  if (hub.response_format === 'url')
    throw unsupportedParameter('response_format', 'Bedrock sends images themselves; send "b64_json"');
}

/** The hub's qualities as Amazon's two. */
const QUALITIES: ReadonlyMap<unknown, string> = new Map([
  ['low', 'standard'],
  ['medium', 'standard'],
  ['standard', 'standard'],
  ['high', 'premium'],
  ['hd', 'premium'],
  ['premium', 'premium'],
]);

/**
 * https://docs.aws.amazon.com/nova/latest/userguide/image-gen-access.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-image.html
 */
function amazonBody({ prompt, negative_prompt: negativeText, n, seed, quality, size }: Json): Json {
  const requested = quality === 'auto' ? null : (quality ?? null);
  if (requested !== null && !QUALITIES.has(requested))
    throw unsupportedParameter('quality', 'this model supports standard and premium');
  return {
    taskType: 'TEXT_IMAGE',
    textToImageParams: withoutNulls({ text: prompt, negativeText }),
    imageGenerationConfig: withoutNulls({
      numberOfImages: n,
      seed,
      quality: QUALITIES.get(requested),
      ...sizeOf(size),
    }),
  };
}

/** Qualities that a model with only one quality accepts. */
const ORDINARY: ReadonlySet<unknown> = new Set([null, 'auto', 'standard']);

/**
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-diffusion-3-5-large.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-diffusion-stable-ultra-text-image-request-response.html
 */
function stabilityBody({ prompt, negative_prompt: negative, n, seed, quality, size }: Json): Json {
  if ((n ?? 1) !== 1) throw unsupportedParameter('n', 'this model makes one image per request');
  if (!ORDINARY.has(quality ?? null)) throw unsupportedParameter('quality', 'this model has one quality');
  return withoutNulls({ prompt, negative_prompt: negative, seed, aspect_ratio: stabilityRatio(size) });
}

/**
 * Images as the hub's `data`. A filter leaves out images and reports that in `error` or `finish_reasons`, which responses that need not be
 * strict repeat. https://platform.openai.com/docs/api-reference/images/object
 */
function answer({ images, error, finish_reasons: reasons }: Json, { created, isStrict }: Context): Json {
  const data = list(images).filter((image) => typeof image === 'string');
  return {
    created,
    data: data.map((image) => ({ b64_json: image })),
    ...(isStrict ? {} : withoutNulls({ error, finish_reasons: reasons })),
  };
}

/** The hub's image generations by InvokeModel. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html */
export const bedrockImages: Translator = { request, answer, error: bedrockError };
