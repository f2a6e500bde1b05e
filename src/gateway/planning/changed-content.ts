import { jsonText } from '../../common/json/deep-json.js';
import type { Json } from '../../providers/endpoint.js';
import type { RequestContent, ReadRequest } from '../types/content.js';
import type { ParamChanges, ParamPath } from '../types/plan.js';
import { wantsStream } from '../types/attempt-trail.js';
import { editedJson } from '../../common/json/edited-json.js';
import { namesDeployment, pathModelOf, withPathModel } from './named-model.js';

/**
 * The request for one target, with the parameters that its config overrides, defaults and drops. Only the bytes of these parameters change;
 * new ones come last. A body that was not read as JSON does not change.
 */
export function changedContent(sent: ReadRequest, changes: ParamChanges): RequestContent {
  if (!sent.json) return sent;
  const { model, ...others } = changes.overrides;
  const read = inPath(sent, typeof model === 'string' ? model : null);
  if (isGoogles(read)) return withParams(read, sent.json, { ...changes, overrides: others });
  return withParams(read, sent.modelSlug === null ? sent.json : { ...sent.json, model: sent.model }, changes);
}

function withParams(
  content: RequestContent,
  json: Json,
  { defaults, overrides, drops }: ParamChanges,
): RequestContent {
  const set: Json = { ...json, ...missingIn(json, defaults), ...overrides };
  // Overridden fields count as changed, so that every duplicate is replaced even if the last one has the value already.
  const before: Json = { ...json, ...Object.fromEntries(presentIn(json, overrides)) };
  const isSet = Object.keys(defaults).length > 0 || Object.keys(overrides).length > 0;
  return drops.reduce<RequestContent>(
    (rest, path) => (rest.json ? withJson(rest, rest.json, without(rest.json, path) as Json) : rest),
    isSet ? withJson(content, before, set) : { ...content, json },
  );
}

const missingIn = (json: Json, defaults: Json): Json =>
  Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(json, name)));

const presentIn = (json: Json, overrides: Json): (readonly [string, undefined])[] =>
  Object.keys(overrides).flatMap((name) => (Object.hasOwn(json, name) ? [[name, undefined] as const] : []));

function withJson(content: RequestContent, before: Json, json: Json): RequestContent {
  const { body, path } = content;
  const isInPath = pathModelOf(path) !== null;
  return {
    ...content,
    json,
    body: Buffer.isBuffer(body) ? editedJson(body, before, json) : Buffer.from(jsonText(json)),
    model: !isInPath && typeof json.model === 'string' ? json.model : content.model,
    isStreamed: isGoogles(content) ? content.isStreamed : wantsStream(json.stream),
  };
}

/** Replaces the model in a path that names one. */
const inPath = (content: RequestContent, model: string | null): RequestContent =>
  model !== null && pathModelOf(content.path)
    ? { ...content, model, path: withPathModel(content.path, model) }
    : content;

/** Google's requests name only in the path what others name in the body. */
const isGoogles = ({ path }: RequestContent): boolean => pathModelOf(path) !== null && !namesDeployment(path);

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
