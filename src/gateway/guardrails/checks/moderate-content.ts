import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { Json } from '../../../providers/endpoint.js';
import type { ProviderCaller } from '../calling/provider-caller.js';
import type { Check } from '../check.js';
import { joinedTexts } from './searched-texts.js';

/**
 * Uses a provider's moderation with a stored credential: `POST /moderations`, https://platform.openai.com/docs/api-reference/moderations.
 * Without categories, any flagged text fails; with categories, only texts flagged in those.
 */
export const moderateContent = (
  { virtual_key, model, categories, timeout }: ParametersOf<'default.moderateContent'>,
  provider: ProviderCaller,
): Check => ({
  looksEverywhere: true,
  run: async (subject) => {
    const { caller } = subject.facts;
    const input = joinedTexts(subject).filter((text) => text.trim() !== '');
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

/** Throws if nothing is flagged and a result has no verdict: a missing verdict is no approval. */
function flaggedIn(answer: unknown): string[] {
  const results = (answer as Json | null)?.results;
  const given: readonly unknown[] = Array.isArray(results) ? results : [];
  const names = given.flatMap((result) => flagsOf(result as Json | null));
  const isWhole = given.length > 0 && given.every((result) => isFlag((result as Json | null)?.flagged));
  if (names.length === 0 && !isWhole) throw new Error('the provider gave no moderation');
  return [...new Set(names)].slice(0, 64);
}

function flagsOf(result: Json | null): string[] {
  const named = Object.entries((result?.categories ?? {}) as Json)
    .filter(([, isFlagged]) => isFlagged === true)
    .map(([name]) => name.slice(0, 64));
  return named.length === 0 && result?.flagged === true ? ['flagged'] : named;
}

const isFlag = (flagged: unknown): boolean => typeof flagged === 'boolean';
