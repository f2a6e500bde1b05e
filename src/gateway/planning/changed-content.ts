import { googleCallOf } from '../../providers/endpoints/google-path.js';
import type { Json } from '../../providers/endpoint.js';
import type { Content, ReadRequest } from '../types/content.js';
import type { ParamChanges, ParamPath } from '../types/plan.js';
import { wantsStream } from '../types/wants-stream.js';
import { editedJson } from './edited-json.js';
import { withModel } from './model-target.js';

/**
 * A request as one target gets it, with the parameters that its config sets, fills in and takes out. A body that was not
 * read as JSON goes as it came. Where only the model changes, no other byte does; else no value does that no parameter names.
 */
export function changedContent(read: ReadRequest, changes: ParamChanges): Content {
  if (!read.json) return read;
  const google = googleCallOf(read.path.path);
  const { model, ...others } = changes.overrides;
  const named = typeof model === 'string' ? model : null;
  if (google) return withParams(inPath(read, named), read.json, { ...changes, overrides: others });
  const isModelOnly = named !== null && isOnly(changes, 1) && typeof read.json.model === 'string';
  if (isModelOnly && Buffer.isBuffer(read.body))
    return { ...read, body: withModel(read.body, named), json: { ...read.json, model: named }, model: named };
  const asked = read.modelSlug === null ? read.json : { ...read.json, model: read.model };
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
  const isGoogle = googleCallOf(content.path.path) !== null;
  return {
    ...content,
    json,
    body: Buffer.from(
      Buffer.isBuffer(body) ? editedJson(body.toString('utf8'), asked, json) : JSON.stringify(json),
    ),
    model: !isGoogle && typeof json.model === 'string' ? json.model : content.model,
    isStreamed: isGoogle ? content.isStreamed : wantsStream(json.stream),
  };
}

/** Google's calls name the model in the path. */
function inPath(content: Content, model: string | null): Content {
  if (model === null) return content;
  const path = content.path.path.replace(/[^/]+(?=:\w+$)/, () => encodeURIComponent(model));
  return { ...content, model, path: { ...content.path, path } };
}

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
