import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { Json } from '../../../providers/endpoint.js';
import type { ProviderCaller } from '../calling/provider-caller.js';
import type { Check } from '../check.js';

/**
 * Uses a provider's moderation with a stored credential: `POST /moderations`, https://platform.openai.com/docs/api-reference/moderations.
 * Without categories, any flagged text fails; with categories, only texts flagged in those.
 */
export const moderateContent = (
  { virtual_key, model, categories, timeout }: ParametersOf<'default.moderateContent'>,
  provider: ProviderCaller,
): Check => ({
  looksEverywhere: true,
  run: async ({ texts, facts: { caller } }) => {
    const input = texts.filter((text) => text.trim() !== '');
    if (input.length === 0) return { verdict: true, data: { flagged: [] } };
    const answer = await provider.ask({
      caller,
      virtualKey: virtual_key,
      path: '/moderations',
      body: { model, input },
      timeoutMs: timeout,
    });
    const flagged = flaggedIn(answer);
    const counting = categories.length === 0 ? flagged : flagged.filter((name) => categories.includes(name));
    return { verdict: counting.length === 0, data: { flagged } };
  },
});

function flaggedIn(answer: unknown): string[] {
  const results = (answer as Json | null)?.results;
  if (!Array.isArray(results) || results.length === 0) throw new Error('the provider gave no moderation');
  const names = results.flatMap((result: Json | null) => {
    const categories = Object.entries((result?.categories ?? {}) as Json);
    const flagged = categories
      .filter(([, isFlagged]) => isFlagged === true)
      .map(([name]) => name.slice(0, 64));
    return flagged.length === 0 && result?.flagged === true ? ['flagged'] : flagged;
  });
  return [...new Set(names)].slice(0, 64);
}
