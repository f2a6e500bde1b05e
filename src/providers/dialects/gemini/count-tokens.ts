import type { Json } from '../../endpoint.js';
import type { Context, Translator } from '../../translation.js';
import { googleError } from './errors.js';
import { aiStudio, vertexAi } from './host.js';
import { chatRequest } from './request.js';

const answer = ({ totalTokens }: Json): Json => ({ input_tokens: totalTokens });

const plain = (context: Context): Context => ({ ...context, isStreamed: false });

/** https://ai.google.dev/api/tokens#method:-models.counttokens */
export const aiStudioCount: Translator = {
  request(hub, context) {
    const { body } = chatRequest(hub, plain(context), aiStudio);
    const generateContentRequest = { model: aiStudio.resourceOf(context.model), ...body };
    return { path: aiStudio.pathOf(context.model, 'countTokens'), body: { generateContentRequest } };
  },
  answer,
  error: googleError,
};

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens */
export const vertexCount: Translator = {
  request(hub, context) {
    const { contents, systemInstruction, tools } = chatRequest(hub, plain(context), vertexAi).body;
    const body = {
      contents,
      ...(systemInstruction === undefined ? {} : { systemInstruction }),
      ...(tools === undefined ? {} : { tools }),
    };
    return { path: vertexAi.pathOf(context.model, 'countTokens'), body };
  },
  answer,
  error: googleError,
};
