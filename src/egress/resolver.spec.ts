import { describe, expect, it } from 'vitest';
import { cachingResolver, resolveBySystem } from './resolver.js';

describe('cachingResolver', () => {
  const counting = (answer: () => Promise<readonly string[]>) => {
    let time = 1_000;
    let asked = 0;
    const resolve = cachingResolver(
      () => {
        asked += 1;
        return answer();
      },
      () => time,
    );
    return { resolve, asked: () => asked, pass: (ms: number) => (time += ms) };
  };

  it('queries once for simultaneous lookups of a name, and again after five seconds', async () => {
    const { resolve, asked, pass } = counting(() => Promise.resolve(['1.1.1.1']));

    await Promise.all([resolve('a'), resolve('a'), resolve('a')]);
    expect(asked()).toBe(1);
    pass(5_000);
    await resolve('a');
    expect(asked()).toBe(1);
    pass(1);
    await resolve('a');
    expect(asked()).toBe(2);
  });

  it('does not remember failures', async () => {
    const { resolve, asked } = counting(() => Promise.reject(new Error('away')));

    await expect(resolve('a')).rejects.toThrow('away');
    await expect(resolve('a')).rejects.toThrow('away');
    expect(asked()).toBe(2);
  });

  it('remembers a thousand names at most, the newest', async () => {
    const { resolve, asked } = counting(() => Promise.resolve(['1.1.1.1']));

    for (let i = 0; i <= 1_000; i++) await resolve(`name-${i}`);
    await resolve('name-1');
    expect(asked()).toBe(1_001);
    await resolve('name-0');
    expect(asked()).toBe(1_002);
  });
});

describe('resolveBySystem', () => {
  it('gives every address of a name', async () => {
    expect(await resolveBySystem('localhost')).toEqual(expect.arrayContaining(['127.0.0.1']));
  });
});
