import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Difference, differences } from './differences.js';

/** Applies operations by RFC 6902. */
function patched(document: unknown, changes: readonly Difference[]): unknown {
  return changes.reduce((value, change) => {
    const steps = change.path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (steps.length === 0) return change.value;
    const copy: unknown = structuredClone(value);
    let holder = copy as Record<string, unknown>;
    for (const step of steps.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
    const last = steps.at(-1) ?? '';
    if (change.op !== 'remove') holder[last] = change.value;
    else if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else Reflect.deleteProperty(holder, last);
    return copy;
  }, document);
}

describe('differences', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ op: 'replace', path: '/a', value: 2, old_value: 1 }]],
    [{ a: 1 }, {}, [{ op: 'remove', path: '/a', old_value: 1 }]],
    [{}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
    [
      { targets: [{ weight: 1 }, { weight: 2 }] },
      { targets: [{ weight: 3 }] },
      [
        { op: 'replace', path: '/targets/0/weight', value: 3, old_value: 1 },
        { op: 'remove', path: '/targets/1', old_value: { weight: 2 } },
      ],
    ],
    [[], {}, [{ op: 'replace', path: '', value: {}, old_value: [] }]],
    [null, 0, [{ op: 'replace', path: '', value: 0, old_value: null }]],
  ])('of %j and %j are %j', (from, to, expected) => {
    expect(differences(from, to)).toEqual(expected);
  });

  it('make the second of the first, whatever they are', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(json, json, (one, other) => {
        const [from, to] = [one, other].map(
          (value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown,
        );
        expect(patched(from, differences(from, to))).toEqual(to);
        expect(differences(to, to)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
