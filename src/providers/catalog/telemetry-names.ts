/**
 * Provider names in OpenTelemetry's conventions; other providers use their own id.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
 */
const NAMES: Readonly<Record<string, string>> = {
  'azure-ai': 'azure.ai.inference',
  'azure-openai': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  'mistral-ai': 'mistral_ai',
  'perplexity-ai': 'perplexity',
  'vertex-ai': 'gcp.vertex_ai',
  'x-ai': 'x_ai',
};

/** The value of `gen_ai.provider.name`. */
export const telemetryNameOf = (providerId: string): string =>
  Object.hasOwn(NAMES, providerId) ? (NAMES[providerId] as string) : providerId;

const OPERATIONS: Readonly<Record<string, string>> = {
  'chat-completions': 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
};

/** The value of `gen_ai.operation.name` of an endpoint family; null stands for unread pass-through. */
export function operationNameOf(endpoint: string | null): string {
  if (endpoint === null) return 'proxy';
  return Object.hasOwn(OPERATIONS, endpoint) ? (OPERATIONS[endpoint] as string) : endpoint;
}
