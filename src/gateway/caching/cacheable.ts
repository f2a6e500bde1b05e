import type { EndpointId, Json } from '../../providers/endpoint.js';

type Judge = (body: Json) => boolean;

const always: Judge = () => true;

/** With `store`, the provider keeps the response, so a request has an effect beyond its response. */
const isUnstored: Judge = ({ store }) => store !== true;

/** Tools that the provider runs and that may have side effects, unlike look-ups. */
const ACTING_TOOLS: ReadonlySet<unknown> = new Set([
  'mcp',
  'code_interpreter',
  'shell',
  'local_shell',
  'computer_use_preview',
]);

/** https://platform.openai.com/docs/api-reference/responses/create */
const isPureResponse: Judge = ({ store, background, conversation, tools }) =>
  store !== true &&
  background !== true &&
  (conversation === undefined || conversation === null) &&
  !(Array.isArray(tools) && tools.some((tool: { type?: unknown } | null) => ACTING_TOOLS.has(tool?.type)));

/** https://docs.claude.com/en/api/messages */
const isPureMessage: Judge = ({ mcp_servers: servers, container }) =>
  (servers === undefined || (Array.isArray(servers) && servers.length === 0)) &&
  (container === undefined || container === null);

/** Endpoints whose responses may be cached, and for which of their requests. Audio, images and anything stored at a provider may not. */
const CACHEABLE: Partial<Record<EndpointId, Judge>> = {
  'chat-completions': isUnstored,
  completions: always,
  'fim-completions': always,
  responses: isPureResponse,
  messages: isPureMessage,
  'count-tokens': always,
  'generate-content': always,
  'embed-content': always,
  'chat-v2': always,
  'embed-v2': always,
  'rerank-v2': always,
  embeddings: always,
  rerank: always,
  moderations: always,
};

export function isCacheable(endpoint: EndpointId, body: Json): boolean {
  return CACHEABLE[endpoint]?.(body) ?? false;
}
