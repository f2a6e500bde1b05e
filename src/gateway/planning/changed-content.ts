import { googleCallOf } from '../../providers/endpoints/google-path.js';
import type { Json } from '../../providers/endpoint.js';
import type { Content, ReadRequest } from '../types/content.js';
import type { ParamChanges, ParamPath } from '../types/plan.js';
import { wantsStream } from '../types/wants-stream.js';
import { editedJson } from './edited-json.js';

/**
 * The request for one target, with the parameters that its config overrides, defaults and drops. Only the bytes of
 * these parameters change; new ones come last. A body that was not read as JSON does not change.
 */
export function changedContent(read: ReadRequest, changes: ParamChanges): Content {
  if (!read.json) return read;
  const { model, ...others } = changes.overrides;
  if (googleCallOf(read.path.path)) {
    const named = inPath(read, typeof model === 'string' ? model : null);
    return withParams(named, read.json, { ...changes, overrides: others });
  }
  return withParams(read, read.modelSlug === null ? read.json : { ...read.json, model: read.model }, changes);
}

function withParams(content: Content, asked: Json, { defaults, overrides, drops }: ParamChanges): Content {
  const set: Json = { ...asked, ...missingIn(asked, defaults), ...overrides };
  // Overridden fields count as changed, so that every duplicate is replaced even if the last one has the value already.
  const before: Json = { ...asked, ...Object.fromEntries(presentIn(asked, overrides)) };
  const isSet = Object.keys(defaults).length > 0 || Object.keys(overrides).length > 0;
  return drops.reduce<Content>(
    (rest, path) => (rest.json ? withJson(rest, rest.json, without(rest.json, path) as Json) : rest),
    isSet ? withJson(content, before, set) : { ...content, json: asked },
  );
}

const missingIn = (asked: Json, defaults: Json): Json =>
  Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(asked, name)));

const presentIn = (asked: Json, overrides: Json): (readonly [string, undefined])[] =>
  Object.keys(overrides).flatMap((name) => (Object.hasOwn(asked, name) ? [[name, undefined] as const] : []));

function withJson(content: Content, before: Json, json: Json): Content {
  const { body, path } = content;
  const isGoogle = googleCallOf(path.path) !== null;
  return {
    ...content,
    json,
    body: Buffer.isBuffer(body) ? editedJson(body, before, json) : Buffer.from(JSON.stringify(json)),
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
