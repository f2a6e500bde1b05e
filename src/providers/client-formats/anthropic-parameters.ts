import type { Json } from '../endpoint.js';
import { nearestEffort } from './efforts.js';

const THINKING_SETTINGS: ReadonlySet<string> = new Set(['thinking', 'output_config', 'reasoning_effort']);

/**
 * Removes Anthropic's thinking settings from a request for a model that does not support them. The hub has them beside the equivalent
 * effort (`client-formats/messages`), which is reduced to one that the model accepts, because Anthropic's clients send thinking settings to every
 * model. An effort in OpenAI's own format is unchanged.
 */
export function withoutAnthropicParameters(hub: Json, model: string): Json {
  if (hub.thinking === undefined && hub.output_config === undefined) return hub;
  const requested = hub.reasoning_effort;
  const rest = Object.fromEntries(Object.entries(hub).filter(([name]) => !THINKING_SETTINGS.has(name)));
  const effort = (requested ?? null) === null ? null : nearestEffort(model, requested);
  return effort === null ? rest : { ...rest, reasoning_effort: effort };
}
