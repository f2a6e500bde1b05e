/**
 * Id of a tool call for a provider without call ids. A conversation keeps the calls of all its turns, often from several providers, and
 * identifies them by id. Clients drop a duplicate id, and Anthropic and Bedrock refuse it, so each id is unique to its request. At most 40
 * characters, OpenAI's limit. https://platform.openai.com/docs/api-reference/chat
 */
export const callId = (requestId: string, index: number): string =>
  `call_${requestId.replaceAll('-', '')}_${index}`;
