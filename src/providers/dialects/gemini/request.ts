import type { Json } from '../../endpoint.js';
import type { Context, JsonRequest } from '../../translation.js';
import { conversation } from './contents.js';
import type { Host } from './host.js';
import { refuseParameter } from '../refusing.js';
import { parameters, serviceTier } from './parameters.js';
import { tooling } from './tools.js';

/**
 * A chat request in Gemini's format. Throws `AppError('parameter_unsupported')`.
 * https://ai.google.dev/api/generate-content#method:-models.generatecontent
 */
export function chatRequest(hub: Json, context: Context, host: Host): JsonRequest {
  const tier = serviceTier(hub.service_tier);
  const method = context.isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    path: host.pathOf(context.model, method),
    body: {
      ...parameters(hub, context.model),
      ...(tier !== null && host.tierIn === 'body' && { serviceTier: tier }),
      ...tooling(hub),
      ...conversation(hub.messages, host, context.model),
    },
    ...(tier !== null && host.tierIn === 'header' && { headers: tierHeader(tier, context) }),
  };
}

/**
 * Flex and Priority PayGo of Vertex AI, available only at the global endpoint. Throws `AppError('parameter_unsupported')`.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/flex-paygo,
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
 */
function tierHeader(tier: string, { fields }: Context): string[] {
  if (fields['vertex-region'] !== undefined)
    refuseParameter(
      'service_tier',
      'only the global endpoint of Vertex AI has tiers (provider "vertex-ai-global")',
    );
  return ['x-vertex-ai-llm-shared-request-type', tier];
}
