import { describe, expect, it } from 'vitest';
import { AsyncContext } from './async-context.js';

describe('AsyncContext', () => {
  it('gives each of two flows its own value, across awaits', async () => {
    const context = new AsyncContext<string>();
    const flow = (value: string, ms: number) =>
      context.run(value, async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return context.get();
      });

    expect(await Promise.all([flow('a', 10), flow('b', 1)])).toEqual(['a', 'b']);
  });

  it('gives nothing outside of a flow, and works again after the last one ended', async () => {
    const context = new AsyncContext<string>();
    await context.run('a', async () => undefined);

    expect(context.get()).toBeUndefined();
    expect(await context.run('b', async () => context.get())).toBe('b');
  });

  it('keeps its value in a flow while another ends', async () => {
    const context = new AsyncContext<string>();
    const long = context.run('long', async () => {
      await context.run('short', async () => undefined);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return context.get();
    });

    expect(await long).toBe('long');
    await expect(context.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(context.get()).toBeUndefined();
  });
});
