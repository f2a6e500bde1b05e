import type { Json } from '../../endpoint.js';
import { isObject, list, wordOf } from '../../endpoints/reading.js';

/** How a client receives the call of a tool. */
export type CallKind = 'function' | 'custom' | 'tool_search';

/** A tool that its client runs, as the client declares it. */
export interface DeclaredTool {
  readonly kind: CallKind;
  readonly name: string;
  /** Of a tool in a namespace. https://developers.openai.com/api/docs/guides/function-calling#defining-namespaces */
  readonly namespace?: string;
}

/** A list of tools in a request, and where it is. */
export interface ToolList {
  readonly tools: unknown;
  readonly where: string;
}

/** Items that declare tools inside the input: those of Codex's models, and the result of a tool search. */
const DECLARING: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);

/** Every list of tools in a request, in order. https://developers.openai.com/api/docs/guides/tools-tool-search */
export function toolListsIn({ tools, input }: Json): readonly ToolList[] {
  const declared = list(input).flatMap((item, index) =>
    isObject(item) && DECLARING.has(item.type) ? [{ tools: item.tools, where: `input[${index}].tools` }] : [],
  );
  return [{ tools, where: 'tools' }, ...declared];
}

/** The hub's function for a tool search that the client runs. */
export const TOOL_SEARCH = 'tool_search';

/** A tool search runs at OpenAI unless the client says that it runs the search itself. */
export const isClientSearch = ({ type, execution }: Json): boolean =>
  type === TOOL_SEARCH && execution === 'client';

/**
 * Names that every provider accepts: OpenAI and Bedrock end at 64 characters, Anthropic and Gemini at 128, and Gemini's begin with a letter
 * or an underscore. https://platform.openai.com/docs/api-reference/chat/create, https://ai.google.dev/api/caching#FunctionDeclaration,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools,
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
 */
const FITTING = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const LENGTH_MAX = 64;
const DIGEST_LENGTH = 8;

/**
 * The tools of a request by their name in the hub. The hub has no namespaces: there, a tool's name includes its namespace, and a call of it
 * is split into both again. A name that a provider would refuse is replaced, by the same one in every request of a conversation.
 */
export class ToolNames {
  private readonly byName = new Map<string, DeclaredTool>();
  private readonly byTool = new Map<string, string>();

  /** The names of all tools that a request declares. Invalid declarations are skipped. */
  static of(request: Json): ToolNames {
    const names = new ToolNames();
    for (const { tools } of toolListsIn(request)) names.addAll(tools);
    return names;
  }

  /** The hub's name of a tool; of one that the request does not declare, the name that it would have. */
  of(name: string, namespace?: string): string {
    return this.byTool.get(keyOf(name, namespace)) ?? fitted(joined(name, namespace));
  }

  /** The tool that a provider calls by this name; null for one that the request does not declare. */
  find(name: string): DeclaredTool | null {
    return this.byName.get(name) ?? null;
  }

  private addAll(tools: unknown, namespace?: string): void {
    for (const tool of list(tools)) {
      if (!isObject(tool)) continue;
      const { type, name } = tool;
      if (isClientSearch(tool)) this.add({ kind: 'tool_search', name: TOOL_SEARCH });
      else if (typeof name !== 'string') continue;
      else if (type === 'namespace' && namespace === undefined) this.addAll(tool.tools, name);
      else if (type === 'function' || type === 'custom')
        this.add({ kind: type, name, ...(namespace !== undefined && { namespace }) });
    }
  }

  private add(tool: DeclaredTool): void {
    const key = keyOf(tool.name, tool.namespace);
    const known = this.byTool.get(key);
    const plain = known ?? fitted(joined(tool.name, tool.namespace));
    const hub = known === undefined && this.byName.has(plain) ? digested(plain, key) : plain;
    this.byTool.set(key, hub);
    this.byName.set(hub, tool);
  }
}

/** The namespace of a call or tool; undefined without one. */
export const namespaceOf = ({ namespace }: Json): string | undefined => wordOf(namespace) || undefined;

const keyOf = (name: string, namespace = ''): string => `${namespace}\n${name}`;

/** Namespaces of MCP servers already end with the separator. */
function joined(name: string, namespace?: string): string {
  if (namespace === undefined) return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
}

const fitted = (name: string): string => (FITTING.test(name) ? name : digested(name, name));

/** A readable name with a digest of what it stands for, so that different tools keep different names. */
function digested(name: string, subject: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_');
  return `${plain.slice(0, LENGTH_MAX - DIGEST_LENGTH - 1)}_${digestOf(subject)}`;
}

/** FNV-1a, which tells the few tools of a client apart. https://datatracker.ietf.org/doc/html/rfc9923 */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(DIGEST_LENGTH, '0');
}
