import { HOOK_LIST_NAMES, type HookListName } from '../../routing-config/guardrails/read-hooks.js';
import type { Mistake } from '../../routing-config/routing-config.js';

/** A stored resource that a config names, and the path of the reference. */
export interface Reference {
  readonly slug: string;
  readonly path: string;
}

/** Accepted configs nest their targets no deeper, and have no more of them. */
const DEEPEST = 50;
const MOST = 5_000;

/** Stored credentials and guardrails that a document names. */
export interface References {
  readonly virtualKeys: Reference[];
  readonly guardrails: Reference[];
}

/**
 * The virtual keys and providers that a document names (`virtual_key`, `provider: "@slug"`, and those of a cache's embedding), and the
 * guardrails by id. Reads the unvalidated document, so that missing references are reported together with other mistakes.
 */
export function referencesIn(document: unknown): References {
  const references: References = { virtualKeys: [], guardrails: [] };
  collect(document, 'config', { references, depth: 0 });
  return references;
}

type ConfigNode = Readonly<Record<string, unknown>>;

function collect(
  node: unknown,
  path: string,
  { references, depth }: { references: References; depth: number },
): void {
  const { virtualKeys, guardrails } = references;
  if (!isNode(node) || depth > DEEPEST || Math.max(virtualKeys.length, guardrails.length) >= MOST) return;
  const { virtual_key, virtualKey, provider, targets } = node;
  note(virtualKeys, virtual_key ?? virtualKey, `${path}.virtual_key`);
  if (typeof provider === 'string' && provider.startsWith('@'))
    note(virtualKeys, provider, `${path}.provider`);
  noteEmbedding(virtualKeys, node.cache, path);
  for (const list of HOOK_LIST_NAMES) noteGuardrails(guardrails, node, { list, path });
  if (!Array.isArray(targets)) return;
  for (const [index, target] of targets.entries())
    collect(target, `${path}.targets[${index}]`, { references, depth: depth + 1 });
}

function noteEmbedding(references: Reference[], cache: unknown, path: string): void {
  const embedding = isNode(cache) ? cache.embedding : null;
  if (!isNode(embedding)) return;
  note(references, embedding.virtual_key ?? embedding.virtualKey, `${path}.cache.embedding.virtual_key`);
}

const isNode = (value: unknown): value is ConfigNode => typeof value === 'object' && value !== null;

function note(references: Reference[], slug: unknown, path: string): void {
  if (typeof slug === 'string') references.push({ slug: bare(slug), path });
}

const bare = (slug: string): string => (slug.startsWith('@') ? slug.slice(1) : slug);

/** Names may be in camelCase, too. */
const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function noteGuardrails(
  references: Reference[],
  node: ConfigNode,
  { list, path }: { readonly list: HookListName; readonly path: string },
): void {
  const items = node[list] ?? node[camel(list)];
  if (!Array.isArray(items)) return;
  for (const [index, item] of items.entries())
    if (typeof item === 'string') references.push({ slug: item, path: `${path}.${list}[${index}]` });
}

const LONGEST_SHOWN = 64;

/** A slug of another workspace counts as missing, with the same message. */
export function missing(
  references: readonly Reference[],
  known: ReadonlySet<string>,
  what: 'virtual key' | 'guardrail' = 'virtual key',
): Mistake[] {
  return references
    .filter(({ slug }) => !known.has(slug))
    .map(({ path, slug }) => ({
      path,
      message: `names the ${what} "${slug.slice(0, LONGEST_SHOWN)}", which does not exist here`,
    }));
}
