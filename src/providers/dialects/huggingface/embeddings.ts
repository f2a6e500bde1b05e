import type { Json } from '../../endpoint.js';
import { list } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { others } from '../asked-media.js';
import { unsupportedParameter } from '../refusing.js';
import { embeddingsOf } from '../vectors.js';
import { huggingFaceError, huggingFaceModelPath } from './inference.js';

const READ: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'user', 'dimensions']);

/** `normalize`, `prompt_name` and `truncate` are passed on. https://huggingface.co/docs/inference-providers/tasks/feature-extraction */
function request(hub: Json, context: Context): ProviderRequest {
  const { input } = hub;
  if (list(input).some((item) => typeof item !== 'string'))
    throw unsupportedParameter('input', 'HF Inference embeds text, not tokens');
  if ((hub.dimensions ?? null) !== null)
    throw unsupportedParameter('dimensions', 'HF Inference has no such control');
  const inputs = Array.isArray(input) ? (input as unknown) : [input];
  return {
    path: `${huggingFaceModelPath(context)}/pipeline/feature-extraction`,
    body: { ...others(hub, READ), inputs },
  };
}

/** A vector per input. Tokens are not reported. */
const answer = ({ items }: Json, { model }: Context, hub: Json = {}): Json => ({
  object: 'list',
  data: embeddingsOf(list(items), hub),
  model,
});

export const huggingFaceEmbeddings: Translator = {
  isBesideBase: true,
  request,
  answer,
  error: huggingFaceError,
};
