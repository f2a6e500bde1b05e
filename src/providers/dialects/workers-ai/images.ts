import type { Json } from '../../endpoint.js';
import {
  type Context,
  FormUpload,
  type MediaFile,
  type ProviderRequest,
  type Translator,
} from '../../translation.js';
import { others, formPartsOf, textIn } from '../asked-media.js';
import { sizeOf } from '../image-sizes.js';
import { beyondPlainImages } from '../plain-images.js';
import { refuseImpossible } from '../refusing.js';
import { workersError } from './errors.js';
import { resultOf, runPath } from './run.js';

const IMPOSSIBLE = beyondPlainImages('Workers AI');

const READ: ReadonlySet<string> = new Set([...IMPOSSIBLE.keys(), 'model', 'size', 'user']);

/** These models require a form. https://developers.cloudflare.com/workers-ai/models/flux-2-dev/ */
const TAKES_FORM = /\/flux-2-/;

/**
 * `negative_prompt`, `seed`, `steps`, `num_steps`, `guidance` and others are passed on.
 * https://developers.cloudflare.com/workers-ai/models/flux-1-schnell/,
 * https://developers.cloudflare.com/workers-ai/models/stable-diffusion-xl-lightning/
 */
function request(hub: Json, context: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const fields = { ...others(hub, READ), prompt: textIn(hub, 'prompt'), ...sizeOf(hub.size) };
  return {
    path: runPath(context),
    body: TAKES_FORM.test(context.model) ? new FormUpload(formPartsOf(fields)) : fields,
  };
}

function answer(answer: Json, { created }: Context): Json {
  const { image } = resultOf(answer);
  return { created, data: typeof image === 'string' ? [{ b64_json: image }] : [] };
}

/** Older models send only the image's bytes. */
const imageResponse = ({ bytes }: MediaFile, { created }: Context): Json => ({
  created,
  data: [{ b64_json: Buffer.from(bytes).toString('base64') }],
});

export const workersImages: Translator = {
  isBesideBase: true,
  request,
  answer,
  error: workersError,
  media: imageResponse,
};
