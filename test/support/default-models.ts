/**
 * The models that the listed clients (docs/clients.md) use without a choice of the user: for the work itself, and beside it for titles,
 * summaries and small tasks. Read from the versions named here.
 */
export const DEFAULT_MODELS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Claude Code 2.1.332': {
    anthropic: [
      ...['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'],
      ...['claude-haiku-4-5-20251001', 'claude-mythos-5', 'claude-mythos-5-1'],
    ],
  },
  'Codex 0.171.0': {
    openai: [
      ...['gpt-6.2-sol', 'gpt-6.2-astra', 'gpt-6.1-sol', 'gpt-6.1-terra'],
      ...['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna'],
      ...['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5'],
      ...['gpt-daybreak-blue-latest', 'gpt-daybreak-red-latest'],
    ],
  },
  'Gemini CLI 0.61.0': {
    google: [
      ...['gemini-3.1-pro-preview', 'gemini-3.1-pro-preview-customtools', 'gemini-3-pro-preview'],
      ...['gemini-2.5-pro', 'gemini-3.8-flash', 'gemini-3-flash-preview', 'gemini-2.5-flash'],
      ...['gemini-2.5-flash-lite', 'gemini-3.5-flash', 'gemini-3.5-flash-lite', 'gemini-3.1-flash-lite'],
    ],
  },
  'OpenCode 1.18.33, for titles': {
    anthropic: ['claude-haiku-4-5-20251001'],
    openai: ['gpt-5.4-nano'],
    google: ['gemini-3.8-flash'],
  },
};

/** In Codex's catalogue, without a published price. The operator's price file may have one. */
export const UNPRICED_CODEX_MODELS = ['codex-auto-review'];
