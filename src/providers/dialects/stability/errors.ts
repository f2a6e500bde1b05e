import type { Json } from '../../endpoint.js';
import { list, textOrNull } from '../../endpoints/reading.js';
import type { HubError } from '../../translation.js';
import { textError } from '../statuses.js';

const said = textError(
  ({ errors, message }) =>
    list(errors)
      .filter((text) => typeof text === 'string')
      .join(' ') || textOrNull(message),
);

/** An error: `{ id, name, errors: [text] }`. Never throws. https://platform.stability.ai/docs/api-reference */
export function stabilityError(status: number, body: Json | null): HubError {
  const error = said(status, body);
  const name = textOrNull(body?.name);
  // The code that OpenAI's clients check: https://platform.openai.com/docs/guides/image-generation#content-moderation
  return { ...error, code: name === 'content_moderation' ? 'moderation_blocked' : (error.code ?? name) };
}
