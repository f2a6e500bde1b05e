import type { Json } from '../../providers/endpoint.js';
import type { Content, ReadRequest } from '../types/content.js';
import type { ParamChanges, ParamPath } from '../types/plan.js';
import { editedJson } from './edited-json.js';
import { withModel } from './model-target.js';
import { namesDeployment, pathModelOf, withPathModel } from './path-model.js';

/**
 * A request as one target gets it, with the parameters that its config sets, fills in and takes out. A body that was not
 * read as JSON goes as it came. Where only the model changes, no other byte does; else no value does that no parameter names.
 */
export function changedContent(sent: ReadRequest, changes: ParamChanges): Content {
  if (!sent.json) return sent;
  const { model, ...others } = changes.overrides;
  const named = typeof model === 'string' ? model : null;
  const read = inPath(sent, named);
  if (isGoogles(read)) return withParams(read, sent.json, { ...changes, overrides: others });
  const isModelOnly = named !== null && isOnly(changes, 1) && typeof sent.json.model === 'string';
  if (isModelOnly && Buffer.isBuffer(read.body))
    return { ...read, body: withModel(read.body, named), json: { ...sent.json, model: named }, model: named };
  const asked = sent.modelSlug === null ? sent.json : { ...sent.json, model: sent.model };
  return withParams(read, asked, changes);
}

function isOnly({ defaults, overrides, drops }: ParamChanges, count: number): boolean {
  return Object.keys(defaults).length === 0 && Object.keys(overrides).length === count && drops.length === 0;
}

function withParams(content: Content, asked: Json, changes: ParamChanges): Content {
  if (isOnly(changes, 0)) return content;
  const set: Json = { ...changes.defaults, ...asked, ...changes.overrides };
  const json = changes.drops.reduce<Json>((rest, path) => without(rest, path) as Json, set);
  const { body } = content;
  const isInPath = pathModelOf(content.path) !== null;
  const model = typeof json.model === 'string' ? json.model : content.model;
  return {
    ...content,
    json,
    body: Buffer.from(
      Buffer.isBuffer(body) ? editedJson(body.toString('utf8'), asked, json) : JSON.stringify(json),
    ),
    model: isInPath ? content.model : model,
    isStreamed: isGoogles(content) ? content.isStreamed : json.stream === true,
  };
}

/** A path that names a model names this one. */
const inPath = (content: Content, model: string | null): Content =>
  model !== null && pathModelOf(content.path)
    ? { ...content, model, path: withPathModel(content.path, model) }
    : content;

/** Google's calls say in the path alone what others say in the body. */
const isGoogles = ({ path }: Content): boolean => pathModelOf(path) !== null && !namesDeployment(path);

function without(value: unknown, [step, ...rest]: ParamPath): unknown {
  if (Array.isArray(value)) return withoutItems(value, step, rest);
  if (typeof value !== 'object' || value === null || step === undefined || !Object.hasOwn(value, step))
    return value;
  const { [step]: found, ...others } = value as Record<string | number, unknown>;
  return rest.length === 0 ? others : { ...value, [step]: without(found, rest) };
}

function withoutItems(
  values: readonly unknown[],
  step: string | number | undefined,
  rest: ParamPath,
): unknown[] {
  const isMeant = (index: number): boolean => step === '*' || step === index;
  if (rest.length === 0) return values.filter((_, index) => !isMeant(index));
  return values.map((value, index) => (isMeant(index) ? without(value, rest) : value));
}
