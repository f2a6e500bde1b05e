const YES = /^(?:true|t|yes|y|on|1)$/i;

/**
 * Whether the `stream` of a request requests a stream. Servers that parse JSON leniently accept `1` and `"true"` as true, too:
 * https://docs.pydantic.dev/latest/concepts/conversion_table/
 */
export function wantsStream(stream: unknown): boolean {
  return stream === true || stream === 1 || (typeof stream === 'string' && YES.test(stream));
}
