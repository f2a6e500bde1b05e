import { withField } from '../../common/json/edited-json.js';

/** The parts of a model that names its target, `@slug/model`. */
export interface ModelTarget {
  readonly slug: string;
  readonly model: string;
}

/** Cloudflare's and Hugging Face's models begin with an @ of their own. */
const NOT_SLUGS = ['@cf/', '@hf/'] as const;

export function modelTarget(model: string): ModelTarget | null {
  if (!model.startsWith('@') || NOT_SLUGS.some((prefix) => model.startsWith(prefix))) return null;
  const slash = model.indexOf('/');
  return slash > 1 && slash < model.length - 1
    ? { slug: model.slice(1, slash), model: model.slice(slash + 1) }
    : null;
}

/** Replaces the value of the top-level `model`; every other byte stays. */
export const withModel = (json: Buffer, model: string): Buffer =>
  withField(json, 'model', JSON.stringify(model));
