/**
 * What rollups tell apart. Texts are cut, because they stand in indexes and may be the client's to choose; who asks for
 * a longer one must ask the request rows.
 */
export const LONGEST_VALUE = 128;

/** The id that stands where there is none. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

export type DimensionType = 'id' | 'text' | 'status';

/** Dimensions of the cube. They bear the names of columns of `request_logs`, and hold their values, but never null. */
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

/** The key of the metadata that names the end user. https://portkey.ai/docs/product/observability/metadata */
export const USER_KEY = '_user';

/**
 * Slices: questions that are asked often, one dimension at a time, and values that are too many for the cube. Their
 * number of rows is the sum of the dimensions' values, where that of a cube is their product.
 */
export const SLICES = ['all', 'api_key_id', 'model', 'end_user', 'prompt_slug'] as const;

type Slice = (typeof SLICES)[number];

export const isSlice = (dimension: string): dimension is Slice =>
  (SLICES as readonly string[]).includes(dimension);

export type SliceDimension = Slice | `metadata.${string}`;

/** The slice of a chosen key of the metadata. */
export const metadataSlice = (key: string): SliceDimension => `metadata.${key}`;
