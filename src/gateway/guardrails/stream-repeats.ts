import type { Json } from '../../providers/endpoint.js';

/**
 * Removes the cumulative message that Perplexity's chunks repeat beside each piece: it ends with text that cannot be judged yet.
 * https://github.com/BerriAI/litellm/issues/8455
 */
export function withoutRepeated(json: Json): Json {
  const { choices } = json;
  if (!Array.isArray(choices) || !choices.some(repeats)) return json;
  return {
    ...json,
    choices: choices.map((choice: Json) => (repeats(choice) ? withoutMessage(choice) : choice)),
  };
}

const repeats = (choice: Json | null): boolean =>
  choice?.delta !== undefined && choice.delta !== null && choice.message !== undefined;

function withoutMessage(choice: Json): Json {
  return Object.fromEntries(Object.entries(choice).filter(([name]) => name !== 'message'));
}

/** Log probabilities list the tokens of the original text, and segments of a transcript the numbers of theirs. */
export function withoutLogprobs(json: Json): Json {
  const { segments } = json;
  if (!Array.isArray(segments) || !segments.some((segment: Json | null) => segment?.tokens))
    return withoutProbabilities(json);
  const bare = segments.map((segment: Json | null) =>
    segment?.tokens ? { ...segment, tokens: [] } : segment,
  );
  return withoutProbabilities({ ...json, segments: bare });
}

function withoutProbabilities(json: Json): Json {
  const { choices, logprobs } = json;
  if (Array.isArray(logprobs) && logprobs.length > 0) return { ...json, logprobs: [] };
  if (!Array.isArray(choices) || !choices.some((choice: Json | null) => choice?.logprobs)) return json;
  return {
    ...json,
    choices: choices.map((choice: Json | null) =>
      choice?.logprobs ? { ...choice, logprobs: null } : choice,
    ),
  };
}
