import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FLAGS, GATEWAY_NODE_OPTIONS, setHeapLimits } from './heap-shape.js';

describe('the V8 heap options', () => {
  it('use flags that this V8 supports', () => {
    const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    for (const flag of [...FLAGS, ...GATEWAY_NODE_OPTIONS]) {
      const name = flag.replace(/=.*$/, '').replace(/^--(no-)?/, '');
      expect(stdout.replaceAll('_', '-'), flag).toMatch(new RegExp(`--(\\[no-\\])?${name}\\b`));
    }
  });

  it('can be given to a process that runs', () => {
    expect(setHeapLimits).not.toThrow();
  });
});
