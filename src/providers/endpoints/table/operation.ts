import type { Operation } from '../../endpoint.js';

/** Short forms for the operations of an endpoint. */
export const get = (path: string): Operation => ({ method: 'GET', path });
export const post = (path: string): Operation => ({ method: 'POST', path });
export const remove = (path: string): Operation => ({ method: 'DELETE', path });

/** OpenAI's own client, whose paths are generated from its specification. */
export const openAiClient = (file: string): string =>
  `https://github.com/openai/openai-node/blob/master/src/resources/${file}`;
