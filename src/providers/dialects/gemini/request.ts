import type { Json } from '../../endpoint.js';
import type { Context, JsonRequest } from '../../translation.js';
import { conversation } from './contents.js';
import type { Host } from './host.js';
import { parameters } from './parameters.js';
import { tooling } from './tools.js';

/**
 * A chat request in Gemini's format. Throws `AppError('parameter_unsupported')`.
 * https://ai.google.dev/api/generate-content#method:-models.generatecontent
 */
export function chatRequest(hub: Json, context: Context, host: Host): JsonRequest {
  const method = context.isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    path: host.pathOf(context.model, method),
    body: {
      ...parameters(hub, context.model),
      ...tooling(hub),
      ...conversation(hub.messages, host, context.model),
    },
  };
}
