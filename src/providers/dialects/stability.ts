import type { Json } from '../endpoint.js';
import { list, textOrNull } from '../endpoints/reading.js';
import {
  type Context,
  FormUpload,
  type HubError,
  type ProviderRequest,
  type Translator,
} from '../translation.js';
import { fileIn, maybeFileIn, others, formPartsOf, textIn } from './asked-media.js';
import { stabilityRatio } from './image-sizes.js';
import { because, refuseImpossible, unsupportedParameter } from './refusing.js';
import { textError } from './statuses.js';
import type { Dialect } from '../dialect.js';

const IMPOSSIBLE = new Map([
  ['n', because('Stability makes one image per request', '1', '"1"')],
  ['response_format', because('Stability sends images themselves; send "b64_json"', '"b64_json"')],
  ['quality', because('Stability has a model for each quality', '"auto"', '"standard"')],
  ['style', because('send "style_preset" instead')],
  ['background', because('Stability has no such control', '"auto"')],
  ['moderation', because('Stability has no such control', '"auto"')],
  ['output_compression', because('Stability has no such control')],
  ['input_fidelity', because('Stability has no such control')],
  ['partial_images', because('Stability streams no images', '0', '"0"')],
  ['stream', because('Stability streams no images', 'false', '"false"')],
]);

const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  'model',
  'prompt',
  'size',
  'image',
  'mask',
  'user',
]);

/** Families below `/v2beta/stable-image/generate`; those of Stable Diffusion 3 share a path and are named in a field. */
const GENERATED = /^(?:stable-image-)?(core|ultra)$/;
const DIFFUSION = /^sd3/;
/** Services below `/v2beta/stable-image/edit` that respond synchronously. */
const EDITED =
  /^(?:stable-image-)?(inpaint|erase|outpaint|search-and-replace|search-and-recolor|remove-background)$/;

const GENERATE = '/v2beta/stable-image/generate';

/** `negative_prompt`, `seed`, `style_preset`, `output_format` and others are passed on. Only forms are accepted, with or without a file. */
function generation(hub: Json, { model }: Context): ProviderRequest {
  const [, family] = GENERATED.exec(model) ?? [];
  const isDiffusion = DIFFUSION.test(model);
  if (family === undefined && !isDiffusion)
    throw unsupportedParameter('model', 'known are stable-image-core, stable-image-ultra and sd3');
  const fields = { prompt: textIn(hub, 'prompt'), aspect_ratio: stabilityRatio(hub.size) };
  const parts = formPartsOf({ ...fields, ...(isDiffusion ? { model } : {}) });
  return sent(`${GENERATE}/${family ?? 'sd3'}`, hub, parts);
}

/**
 * An edit by one of Stability's services, which is the model: `inpaint`, `erase`, `search-and-replace` and so on, or a new image from an
 * old one by `stable-image-ultra` or `sd3`, which need `strength`. A mask has Stability's meaning: white areas are repainted; without a
 * mask, the image's transparent areas are.
 */
function edit(hub: Json, { model }: Context): ProviderRequest {
  const image = ['image', fileIn(hub, 'image')] as const;
  const prompt = formPartsOf({ prompt: textOrNull(hub.prompt) });
  const [, service] = EDITED.exec(model) ?? [];
  const mask = maybeFileIn(hub, 'mask');
  if (service !== undefined) {
    const masked = mask ? [['mask', mask] as const] : [];
    return sent(`/v2beta/stable-image/edit/${service}`, hub, [...prompt, image, ...masked]);
  }
  if (mask) throw unsupportedParameter('mask', 'a mask needs the model inpaint or erase');
  if (DIFFUSION.test(model))
    return sent(`${GENERATE}/sd3`, hub, [...prompt, ['model', model], ['mode', 'image-to-image'], image]);
  if (GENERATED.exec(model)?.[1] === 'ultra') return sent(`${GENERATE}/ultra`, hub, [...prompt, image]);
  throw unsupportedParameter(
    'model',
    'known are inpaint, erase, search-and-replace and the like, ultra and sd3',
  );
}

function sent(path: string, hub: Json, parts: FormUpload['parts']): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  return {
    path,
    body: new FormUpload([...parts, ...formPartsOf(others(hub, READ))]),
    headers: ['accept', 'application/json'],
  };
}

function answer({ image, finish_reason: reason, seed }: Json, { created, isStrict }: Context): Json {
  const data = typeof image === 'string' ? [{ b64_json: image }] : [];
  return { created, data, ...(isStrict ? {} : { finish_reason: reason, seed }) };
}

/** https://platform.stability.ai/docs/api-reference#tag/Generate */
export const stabilityImages: Translator = { request: generation, answer, error: stabilityError };

/** https://platform.stability.ai/docs/api-reference#tag/Edit */
export const imageEdits: Translator = { request: edit, answer, error: stabilityError };

const errorText = textError(
  ({ errors, message }) =>
    list(errors)
      .filter((text) => typeof text === 'string')
      .join(' ') || textOrNull(message),
);

/** An error: `{ id, name, errors: [text] }`. Never throws. https://platform.stability.ai/docs/api-reference */
function stabilityError(status: number, body: Json | null): HubError {
  const error = errorText(status, body);
  const name = textOrNull(body?.name);
  // The code that OpenAI's clients check: https://platform.openai.com/docs/guides/image-generation#content-moderation
  return { ...error, code: name === 'content_moderation' ? 'moderation_blocked' : (error.code ?? name) };
}

/** Stability AI. The base URL is `https://api.stability.ai`. https://platform.stability.ai/docs/api-reference */
export const stability: Dialect = {
  id: 'stability',
  translators: { 'image-generations': stabilityImages, 'image-edits': imageEdits },
};
