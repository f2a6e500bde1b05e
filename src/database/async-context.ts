import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that follows an asynchronous flow, at no cost while no flow has one.
 *
 * On Node 20 the first `AsyncLocalStorage.run` adds hooks to every promise of the process, which the data plane would pay for with each
 * request. They are removed when the last flow has ended.
 * https://nodejs.org/docs/latest-v20.x/api/async_context.html#asynclocalstoragedisable
 */
export class AsyncContext<T> {
  private readonly storage = new AsyncLocalStorage<T>();
  private running = 0;

  get(): T | undefined {
    return this.storage.getStore();
  }

  async run<R>(value: T, work: () => Promise<R>): Promise<R> {
    this.running++;
    try {
      return await this.storage.run(value, work);
    } finally {
      if (--this.running === 0) this.storage.disable();
    }
  }
}
