import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { memoryOfMachine, sharedBuffersMiB } from './server-process.js';

const GIB = 1024 ** 3;

describe('the memory in which the embedded server keeps rows', () => {
  it.each([
    [0.5, 128],
    [2, 128],
    [4, 256],
    [24, 1_536],
    [512, 2_048],
  ])('of %s GiB is %s MiB', (gibibytes, mebibytes) => {
    expect(sharedBuffersMiB(gibibytes * GIB)).toBe(mebibytes);
  });

  it('is a share of what this process may use, which is no more than the machine has', () => {
    expect(memoryOfMachine()).toBeGreaterThan(0);
    expect(memoryOfMachine()).toBeLessThanOrEqual(totalmem());
  });
});
