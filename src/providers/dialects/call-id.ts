/**
 * Id of a tool's call whose provider gives it none. A conversation keeps the calls of all its turns, often of several providers, and
 * finds them by their ids: one that came twice is left out by clients and refused by Anthropic and Bedrock, so each is of its request alone.
 * At most 40 characters, as OpenAI takes them. https://platform.openai.com/docs/api-reference/chat
 */
export const callId = (requestId: string, index: number): string =>
  `call_${requestId.replaceAll('-', '')}_${index}`;
