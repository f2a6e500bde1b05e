import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import { needsTimes } from '../../client-formats/media/transcript.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { fileIn, NO_STREAMS, numberIn, withoutNulls } from '../asked-media.js';
import { because, refuseImpossible } from '../refusing.js';
import { huggingFaceError, huggingFaceModelPath } from './inference.js';

const IMPOSSIBLE = new Map([
  ...NO_STREAMS,
  ['language', because('HF Inference detects it', '""')] as const,
  ['prompt', because('HF Inference takes none', '""')] as const,
]);

/**
 * The bare audio, or audio in JSON if there are further parameters.
 * https://huggingface.co/docs/inference-providers/tasks/automatic-speech-recognition
 */
function request(hub: Json, context: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const path = huggingFaceModelPath(context);
  const file = fileIn(hub, 'file');
  const temperature = numberIn(hub, 'temperature') || null;
  const parameters = withoutNulls({
    return_timestamps: needsTimes(hub) ? true : null,
    generation_parameters: temperature === null ? null : { temperature },
  });
  if (Object.keys(parameters).length === 0) return { path, body: file };
  return { path, body: { inputs: Buffer.from(file.bytes).toString('base64'), parameters } };
}

function answer({ text, chunks }: Json): Json {
  const timed = list(chunks).filter(isObject);
  const segments = timed.map(({ text: spoken, timestamp }, id) => {
    const [start, end] = list(timestamp);
    return { id, start, end, text: textOf(spoken) };
  });
  return { text: textOf(text), ...(segments.length > 0 ? { segments } : {}) };
}

export const huggingFaceTranscriptions: Translator = {
  isBesideBase: true,
  request,
  answer,
  error: huggingFaceError,
};
