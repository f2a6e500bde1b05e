import type { Method, EndpointOperation } from '../../endpoint.js';

const operation =
  (method: Method) =>
  (path: string, summary?: string): EndpointOperation => ({
    method,
    path,
    ...(summary !== undefined && { summary }),
  });

/** Short forms for the operations of an endpoint. */
export const get = operation('GET');
export const post = operation('POST');
export const remove = operation('DELETE');

/** OpenAI's own client, whose paths are generated from its specification. */
export const openAiClient = (file: string): string =>
  `https://github.com/openai/openai-node/blob/master/src/resources/${file}`;
