/** A value that is known already, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Maps a value: at once if it is known, because what is in memory must not cost the hot path a promise. If `map` throws, it throws too, or
 * rejects if the value was a promise.
 */
export function mapMaybePromise<T, R>(
  value: MaybePromise<T>,
  map: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(map) : map(value);
}
