import type { Mistake } from '../../common/contracts/routing-config.js';

/** A stored credential that a config names, and where. */
export interface Reference {
  readonly slug: string;
  readonly path: string;
}

/** No config that is accepted nests its targets deeper, or has more of them. */
const DEEPEST = 50;
const MOST = 5_000;

/**
 * The virtual keys and providers that a document names, `virtual_key` and `provider: "@slug"`. It is read as it came, so
 * that a document with other mistakes is told of these too.
 */
export function referencesIn(document: unknown): Reference[] {
  const found: Reference[] = [];
  collect(document, 'config', { found, depth: 0 });
  return found;
}

function collect(node: unknown, path: string, { found, depth }: { found: Reference[]; depth: number }): void {
  if (typeof node !== 'object' || node === null || depth > DEEPEST || found.length >= MOST) return;
  const { virtual_key, virtualKey, provider, targets } = node as Readonly<Record<string, unknown>>;
  note(found, virtual_key ?? virtualKey, `${path}.virtual_key`);
  if (String(provider).startsWith('@')) note(found, provider, `${path}.provider`);
  if (!Array.isArray(targets)) return;
  for (const [index, target] of targets.entries())
    collect(target, `${path}.targets[${index}]`, { found, depth: depth + 1 });
}

function note(found: Reference[], slug: unknown, path: string): void {
  if (typeof slug === 'string') found.push({ slug: bare(slug), path });
}

const bare = (slug: string): string => (slug.startsWith('@') ? slug.slice(1) : slug);

/** A slug of another workspace is none, and is told in the same words. */
export function missing(references: readonly Reference[], known: ReadonlySet<string>): Mistake[] {
  return references
    .filter(({ slug }) => !known.has(slug))
    .map(({ path }) => ({ path, message: 'names a virtual key that does not exist' }));
}
