import type { Json } from '../../endpoint.js';
import { isObject, list, objectOf } from '../../endpoints/reading.js';
import { firstField } from './fields.js';
import { refuseParameter } from '../refusing.js';
import { geminiJsonSchema } from './schema.js';

/**
 * Google's own tools, by the names that a tool of the hub may have: `{type: "google_search"}`, `{google_search: {...}}`, or a function of
 * that name without a schema. https://ai.google.dev/api/caching#Tool, and those of Vertex AI:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Tool
 */
const NATIVE = [
  'googleSearch',
  'googleSearchRetrieval',
  'googleMaps',
  'codeExecution',
  'urlContext',
  'fileSearch',
  'computerUse',
  'enterpriseWebSearch',
  'retrieval',
] as const;

const NATIVE_BY_NAME: ReadonlyMap<unknown, string> = new Map(
  NATIVE.flatMap((name) => [
    [name, name],
    [snake(name), name],
  ]),
);

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The tool fields of a request in Gemini's format; empty without tools. */
export interface Tooling {
  readonly tools?: readonly Json[];
  readonly toolConfig?: Json;
}

/**
 * Tools and the choice among them. OpenAI's `web_search_options` selects Google's search. Throws `AppError('parameter_unsupported')` for
 * kinds of tools and choices that Gemini lacks.
 */
export function tooling(hub: Json): Tooling {
  const declared: Json[] = [];
  const native: Json[] = [];
  for (const tool of [...list(hub.tools), ...list(hub.functions).map((spec) => ({ function: spec }))]) {
    if (!isObject(tool)) continue;
    const own = nativeTool(tool);
    if (own) native.push(own);
    else declared.push(declaration(tool));
  }
  if (isObject(hub.web_search_options)) native.push({ googleSearch: {} });
  const tools = [...(declared.length > 0 ? [{ functionDeclarations: declared }] : []), ...native];
  const toolConfig = configuration(hub, declared.length > 0);
  return {
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
  };
}

/** Without functions, there is no choice to configure. */
function configuration(hub: Json, hasFunctions: boolean): Json {
  const config = hasFunctions ? callingConfig(hub.tool_choice ?? hub.function_call) : undefined;
  return {
    ...objectOf(firstField(hub, 'toolConfig', 'tool_config')),
    ...(config && { functionCallingConfig: config }),
  };
}

function nativeTool(tool: Json): Json | null {
  const spec = isObject(tool.function) ? tool.function : null;
  const names = spec ? [spec.name] : [tool.type, ...Object.keys(tool)];
  const key = names.find((candidate) => NATIVE_BY_NAME.has(candidate));
  const name = NATIVE_BY_NAME.get(key);
  if (name === undefined || typeof key !== 'string') return null;
  if (spec) return hasSchema(spec) ? null : { [name]: objectOf(spec.parameters) };
  return { [name]: objectOf(firstField(tool, key, name)) };
}

/** Whether a function is the client's own: a name alone, or settings that are not a schema, mean Google's tool. */
const hasSchema = ({ parameters }: Json): boolean =>
  isObject(parameters) && ('type' in parameters || 'properties' in parameters);

/** https://ai.google.dev/api/caching#FunctionDeclaration */
function declaration(tool: Json): Json {
  const spec = isObject(tool.function) ? tool.function : null;
  if (!spec)
    return refuseParameter(
      'tools',
      'Gemini calls functions, and has tools of its own, but none of this type',
    );
  const { name, description, parameters } = spec;
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parametersJsonSchema: geminiJsonSchema(parameters) }),
  };
}

const MODES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'AUTO'],
  ['none', 'NONE'],
  ['required', 'ANY'],
]);

/**
 * https://ai.google.dev/api/caching#FunctionCallingConfig. `VALIDATED` may call or respond, within the allowed functions; `AUTO` ignores
 * them.
 */
function callingConfig(choice: unknown): Json | undefined {
  if (choice === undefined || choice === null) return undefined;
  const mode = MODES.get(choice);
  if (mode !== undefined) return { mode };
  if (!isObject(choice)) return refuseParameter('tool_choice', 'Gemini does not support this choice');
  if (choice.type === 'allowed_tools') return allowed(choice.allowed_tools);
  const name = nameOf(choice);
  return typeof name === 'string'
    ? { mode: 'ANY', allowedFunctionNames: [name] }
    : refuseParameter('tool_choice', 'only functions can be chosen');
}

function allowed(value: unknown): Json {
  const { mode, tools } = isObject(value) ? value : {};
  const names = list(tools)
    .filter(isObject)
    .map(nameOf)
    .filter((name) => typeof name === 'string');
  return { mode: mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: names };
}

/** `{type: "function", function: {name}}`, or `{name}` in OpenAI's older form. */
const nameOf = (choice: Json): unknown => (isObject(choice.function) ? choice.function.name : choice.name);
