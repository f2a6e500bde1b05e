import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/**
 * A namespace groups tools of a client (https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools). The hub
 * has none: there, a tool's name includes its namespace, and a call of it is split into both again.
 */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Namespaces of MCP servers already end with the separator. */
export const joinedName = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;

/** The tools in namespaces by their name in the hub. */
export function namespacedTools(tools: unknown): ReadonlyMap<string, NamespacedName> {
  const namespaces = list(tools).filter(isObject).filter(isNamespace);
  return new Map(namespaces.flatMap(({ name, tools: inner }) => list(inner).flatMap(entriesOf(name))));
}

const isNamespace = (tool: Json): tool is Json & { readonly name: string } =>
  tool.type === 'namespace' && typeof tool.name === 'string';

const entriesOf =
  (namespace: string) =>
  (tool: unknown): [string, NamespacedName][] =>
    isObject(tool) && typeof tool.name === 'string'
      ? [[joinedName(namespace, tool.name), { namespace, name: tool.name }]]
      : [];
