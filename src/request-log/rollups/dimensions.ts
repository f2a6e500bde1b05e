/** Characters of a value in rollups. Longer ones have a label (labels.ts), and filters on them read the request rows. */
export const DIMENSION_CHARS_MAX = 128;

/** The id used where there is none. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

export type DimensionType = 'id' | 'text' | 'status';

/** Dimensions of the cube. They share the names and values of columns of `request_logs`, but are never null. */
export const CUBE = {
  api_key_id: 'id',
  virtual_key: 'text',
  provider: 'text',
  model: 'text',
  endpoint: 'text',
  config_id: 'id',
  status: 'status',
  cache_status: 'text',
} as const satisfies Record<string, DimensionType>;

export type CubeDimension = keyof typeof CUBE;

export const CUBE_COLUMNS = Object.keys(CUBE) as readonly CubeDimension[];

export const SLICE_COLUMNS = ['dimension', 'value'] as const;

/** The metadata key of the end user. https://portkey.ai/docs/product/observability/metadata */
export const USER_KEY = '_user';

/**
 * Slices: one dimension each, for frequent queries and for dimensions with too many values for the cube. A slice has as many rows as the
 * dimension has values, whereas a cube has their product.
 */
export const SLICES = ['all', 'api_key_id', 'model', 'end_user', 'prompt_slug'] as const;

type Slice = (typeof SLICES)[number];

export const isSlice = (dimension: string): dimension is Slice =>
  (SLICES as readonly string[]).includes(dimension);

export type SliceDimension = Slice | `metadata.${string}`;

/** The slice of a chosen metadata key. */
export const metadataSlice = (key: string): SliceDimension => `metadata.${key}`;
