import type { QueryCondition } from '../reading/log-filters.js';
import { CUBE, isSlice, metadataSlice, USER_KEY } from '../rollups/dimensions.js';
import { READ_MEASURES, type ReadMeasureName } from './read-measures.js';
import type { GroupedBy } from './usage-store.js';

/**
 * The source of a result: one slice (with all of its values or one), the cube (with some of its dimensions), or the request rows. Every
 * store has these three.
 */
export type SourceKind =
  | { readonly kind: 'slice'; readonly dimension: string }
  | { readonly kind: 'cube'; readonly dimensions: readonly string[] }
  | { readonly kind: 'rows' };

export interface Need {
  readonly conditions: readonly QueryCondition[];
  readonly measures: readonly ReadMeasureName[];
  readonly by?: GroupedBy | undefined;
  /** Metadata keys whose slices are complete in the range. */
  readonly metadataKeys: ReadonlySet<string>;
}

const METADATA = metadataSlice('');

/** The metadata key of a slice; null for other slices. */
export const metadataKeyOf = (dimension: string): string | null =>
  dimension.startsWith(METADATA) ? dimension.slice(METADATA.length) : null;

/** The cheapest source that suffices: one slice, then the cube, then the request rows. */
export function sourceFor(need: Need): SourceKind {
  const dimensions = dimensionsFor(need);
  if (dimensions === null) return { kind: 'rows' };
  const [only = 'all', ...others] = dimensions;
  const key = metadataKeyOf(only);
  const hasSlice = isSlice(only) || (key !== null && need.metadataKeys.has(key));
  if (others.length === 0 && hasSlice) return { kind: 'slice', dimension: only };
  const isCube = [...dimensions].every((dimension) => Object.hasOwn(CUBE, dimension));
  return isCube ? { kind: 'cube', dimensions: [...dimensions] } : { kind: 'rows' };
}

/** The dimensions that the source must have; null when only the request rows have them. */
function dimensionsFor({ conditions, measures, by }: Need): ReadonlySet<string> | null {
  const dimensions = new Set(measures.flatMap((name) => READ_MEASURES[name].needs ?? []));
  const grouped = by && dimensionOf(by);
  if (grouped !== undefined) dimensions.add(grouped);
  for (const { on } of conditions) {
    if (on === null) return null;
    for (const dimension of on) dimensions.add(dimension);
  }
  return dimensions;
}

/** The dimension that the source must have; undefined for tenant columns, which every source has. */
function dimensionOf(by: GroupedBy): string | undefined {
  if (by.kind === 'workspace') return undefined;
  if (by.kind === 'config') return 'config_id';
  if (by.kind === 'metadata') return by.key === USER_KEY ? 'end_user' : metadataSlice(by.key);
  return by.dimension;
}
