import type { Json } from '../endpoint.js';
import { nearestEffort } from './efforts.js';

const WISHES: ReadonlySet<string> = new Set(['thinking', 'output_config', 'reasoning_effort']);

/**
 * A request without Anthropic's own words for how to think, for a model that knows none of them. The hub has them beside the effort
 * that they stand for (`shapes/messages`); of that stays what the model takes, because a client of Anthropic says how to think to every
 * model. An effort in OpenAI's own words stays as it is.
 */
export function withoutAnthropicWishes(hub: Json, model: string): Json {
  if (hub.thinking === undefined && hub.output_config === undefined) return hub;
  const wanted = hub.reasoning_effort;
  const rest = Object.fromEntries(Object.entries(hub).filter(([name]) => !WISHES.has(name)));
  const effort = (wanted ?? null) === null ? null : nearestEffort(model, wanted);
  return effort === null ? rest : { ...rest, reasoning_effort: effort };
}
