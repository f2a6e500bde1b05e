/** Models that their provider no longer serves, by its name in the price data. A name with `*` at its end is a beginning. */
const RETIRED: Readonly<Record<string, readonly string[]>> = {
  // https://platform.claude.com/docs/en/about-claude/model-deprecations, and for Sonnet 4 and Opus 4
  // https://platform.claude.com/docs/en/release-notes/overview (15 June 2026)
  anthropic: [
    ...['claude-v1*', 'claude-1*', 'claude-2*', 'claude-instant*', 'claude-3*'],
    ...['claude-opus-4', 'claude-opus-4-0', 'claude-opus-4-2025*'],
    ...['claude-sonnet-4', 'claude-sonnet-4-0', 'claude-sonnet-4-2025*'],
  ],
};

/** Whether a model is left out of the list. It keeps its price, and a request for it is the provider's to refuse. */
export function isRetired(pricesId: string | null, model: string): boolean {
  const retired = pricesId === null ? undefined : RETIRED[pricesId];
  return (
    retired?.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : model === name)) ??
    false
  );
}
