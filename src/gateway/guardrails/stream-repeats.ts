import type { Json } from '../../providers/endpoint.js';

/**
 * Without the whole answer so far, which Perplexity's chunks repeat beside each piece: it ends where it cannot be judged yet.
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

/** Probabilities are told token by token, and the tokens are the text as it was. */
export function withoutLogprobs(json: Json): Json {
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
