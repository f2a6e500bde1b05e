/**
 * What rollups tell apart. Texts are cut, because they stand in indexes and may be the client's to choose; who asks for
 * a longer one must ask the request rows.
 */
export const LONGEST_VALUE = 128;

/** The id that stands where there is none. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

const text = (column: string): string => `left(coalesce(${column}, ''), ${LONGEST_VALUE})`;

/** Dimensions of the cube: column, and its value for a row of `request_logs`. They bear the names of its columns. */
export const CUBE = {
  api_key_id: `coalesce(api_key_id, '${NIL_ID}'::uuid)`,
  virtual_key: text('virtual_key'),
  provider: text('provider'),
  model: text('model'),
  endpoint: text('endpoint'),
  config_id: `coalesce(config_id, '${NIL_ID}'::uuid)`,
  status: 'status',
  cache_status: text('cache_status'),
} as const;

export type CubeDimension = keyof typeof CUBE;

export const CUBE_COLUMNS = Object.keys(CUBE) as readonly CubeDimension[];

export const SLICE_COLUMNS = ['dimension', 'value'] as const;

/** The key of the metadata that names the end user. https://portkey.ai/docs/product/observability/metadata */
export const USER_KEY = '_user';

/**
 * Slices: questions that are asked often, one dimension at a time, and values that are too many for the cube. Their
 * number of rows is the sum of the dimensions' values, where that of a cube is their product.
 */
export const SLICES = {
  all: "''",
  api_key_id: `coalesce(api_key_id, '${NIL_ID}'::uuid)::text`,
  model: text('model'),
  end_user: text(`metadata ->> '${USER_KEY}'`),
  prompt_slug: text('prompt_slug'),
} as const;

export type SliceDimension = keyof typeof SLICES | `metadata.${string}`;

/** The slice of a chosen key of the metadata. */
export const metadataSlice = (key: string): SliceDimension => `metadata.${key}`;
