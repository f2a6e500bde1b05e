import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import type { Context, MediaFile, ProviderRequest, Translator } from '../../translation.js';
import { others, textIn } from '../asked-media.js';
import { sizeOf } from '../image-sizes.js';
import { beyondPlainImages } from '../plain-images.js';
import { refuseImpossible } from '../refusing.js';
import { huggingFaceError, huggingFaceModelPath } from './inference.js';

const IMPOSSIBLE = beyondPlainImages('HF Inference');

const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  'model',
  'prompt',
  'size',
  'user',
  'parameters',
]);

/**
 * `negative_prompt`, `seed`, `guidance_scale` and others are `parameters`.
 * https://huggingface.co/docs/inference-providers/tasks/text-to-image
 */
function request(hub: Json, context: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const given = isObject(hub.parameters) ? hub.parameters : {};
  const parameters = { ...sizeOf(hub.size), ...others(hub, READ), ...given };
  const inputs = textIn(hub, 'prompt');
  return {
    path: huggingFaceModelPath(context),
    body: Object.keys(parameters).length > 0 ? { inputs, parameters } : { inputs },
    headers: ['accept', 'image/png'],
  };
}

const imageResponse = ({ bytes }: MediaFile, { created }: Context): Json => ({
  created,
  data: [{ b64_json: Buffer.from(bytes).toString('base64') }],
});

export const huggingFaceImages: Translator = {
  isBesideBase: true,
  request,
  // The response is the image itself.
  answer: (_, { created }) => ({ created, data: [] }),
  error: huggingFaceError,
  media: imageResponse,
};
