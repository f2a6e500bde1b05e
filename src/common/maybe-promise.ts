/** A value that is known already, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** What is in memory must not cost the hot path a promise: the only place that tells the two apart. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/**
 * Maps a value: at once if it is known. If `map` throws, it throws too, or rejects if the value was a promise. `recover` maps the error of a
 * promise.
 */
export function mapMaybePromise<T, R>(
  value: MaybePromise<T>,
  map: (value: T) => MaybePromise<R>,
  recover?: (error: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? value.then(map, recover) : map(value);
}
