/** Request headers of one API's clients, and the dialects of the providers that read them. */
interface ClientHeaders {
  readonly names: RegExp;
  readonly dialects: ReadonlySet<string>;
}

const CLIENT_HEADERS: readonly ClientHeaders[] = [
  // https://platform.claude.com/docs/en/api/overview and https://code.claude.com/docs/en/llm-gateway
  { names: /^(?:anthropic-.+|x-claude-code-.+|x-app)$/, dialects: new Set(['anthropic']) },
  // https://platform.openai.com/docs/api-reference/authentication, https://platform.openai.com/docs/api-reference/debugging-requests, and
  // Codex: https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/requests/headers.rs. It sends its session as `x-client-request-id`.
  {
    names: /^(?:openai-.+|x-openai-.+|x-codex-.+|x-client-request-id|originator|session-id|thread-id)$/,
    dialects: new Set(['openai', 'azure-openai', 'azure-ai']),
  },
  // OpenCode: https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/llm.ts. Fireworks and Workers AI route by them:
  // https://reference.langchain.com/python/langchain-fireworks/middleware,
  // https://developers.cloudflare.com/workers-ai/features/prompt-caching
  { names: /^x-session-(?:id|affinity)$/, dialects: new Set(['openai', 'workers-ai']) },
  // https://cloud.google.com/apis/docs/system-parameters
  { names: /^x-goog-/, dialects: new Set(['gemini', 'vertex']) },
  // The SDK that made the request, and its runtime.
  { names: /^x-stainless-/, dialects: new Set() },
];

/** Whether a client's header, in lower case, means nothing to a provider of that dialect: it belongs to the client's own API. */
export function isForeignHeader(name: string, dialect: string): boolean {
  return CLIENT_HEADERS.some(({ names, dialects }) => names.test(name) && !dialects.has(dialect));
}
