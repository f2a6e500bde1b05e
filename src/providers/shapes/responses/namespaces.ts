import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/**
 * A namespace groups tools of a client (https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools).
 * The hub has none: a tool in a namespace bears both names there, and a call of it gets them back apart.
 */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Namespaces of MCP servers end with the separator already. */
export const joinedName = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;

/** The tools in namespaces by the name that the hub has for them. */
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
