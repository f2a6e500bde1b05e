import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCondition, type RequestFacts } from './conditions.js';
import { type Mistake, DocumentPath } from './document-path.js';

const FACTS: RequestFacts = {
  metadata: { plan: 'paid', age: '21', 'a.b': 'dotted', beta: 'true' },
  params: {
    model: 'gpt-4o',
    n: 2,
    stream: true,
    tools: [{ type: 'function' }],
    user: null,
    nested: { deep: 'x' },
  },
  pathname: '/v1/chat/completions',
};

function holds(query: object, facts: RequestFacts = FACTS): boolean {
  const mistakes: Mistake[] = [];
  const condition = readCondition(query, DocumentPath.root(mistakes));
  expect(mistakes).toEqual([]);
  return condition(facts);
}

describe('readCondition', () => {
  it.each([
    [{ 'metadata.plan': 'paid' }, true],
    [{ 'metadata.plan': { $eq: 'free' } }, false],
    [{ 'metadata.plan': { $ne: 'free' } }, true],
    [{ 'metadata.missing': { $ne: 'free' } }, true],
    [{ 'metadata.missing': { $eq: null } }, true],
    [{ 'metadata.missing': { $nin: ['a'] } }, true],
    [{ 'metadata.missing': { $in: ['a'] } }, false],
    [{ 'metadata.missing': { $lt: 5 } }, false],
    [{ 'metadata.missing': { $regex: '.*' } }, false],
    [{ 'metadata.a.b': 'dotted' }, true],
    [{ 'metadata.age': { $gt: 9 } }, true],
    [{ 'metadata.age': { $gte: 21, $lt: 22 } }, true],
    [{ 'metadata.age': { $gt: '9' } }, true],
    [{ 'metadata.plan': { $gt: 'a' } }, true],
    [{ 'metadata.plan': { $gt: 5 } }, false],
    [{ 'metadata.age': { $in: [21] } }, true],
    [{ 'metadata.beta': true }, true],
    [{ 'metadata.toString': { $eq: null } }, true],
    [{ 'params.model': { $regex: '^gpt-' } }, true],
    [{ 'params.model': { $regex: 'claude' } }, false],
    [{ 'params.n': { $lte: 2 } }, true],
    [{ 'params.stream': true }, true],
    [{ 'params.tools[0].type': 'function' }, true],
    [{ 'params.nested.deep': 'x' }, true],
    [{ 'params.user': null }, true],
    [{ 'params.tools': { $eq: 'function' } }, false],
    [{ 'url.pathname': { $eq: '/v1/chat/completions' } }, true],
  ])('judges %j as %s', (query, expected) => {
    expect(holds(query)).toBe(expected);
  });

  it.each([
    [{ $eq: 7 }, true],
    [{ $ne: 7 }, false],
    [{ $in: [1, 7] }, true],
    [{ $nin: [1, 7] }, false],
    [{ $gte: 7, $lte: 7 }, true],
    [{ $eq: 8 }, false],
    [{ $eq: '7' }, false],
    [{ $eq: '7.0' }, true],
  ])('compares the metadata "7.0" with %j as a number where the config has a number', (query, expected) => {
    expect(holds({ 'metadata.version': query }, { ...FACTS, metadata: { version: '7.0' } })).toBe(expected);
  });

  it('agrees about equality with $gte and $lte, whatever the number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.constantFrom('', '.0', 'e0', ' '), (number, tail) => {
        const facts = { ...FACTS, metadata: { n: `${number}${tail}` } };
        const isBetween = holds({ 'metadata.n': { $gte: number, $lte: number } }, facts);
        expect(holds({ 'metadata.n': { $in: [number] } }, facts)).toBe(isBetween);
        expect(holds({ 'metadata.n': { $ne: number } }, facts)).toBe(!isBetween);
      }),
      {
        examples: [
          [Infinity, ''],
          [-Infinity, ''],
          [-0, ''],
        ],
      },
    );
  });

  it('does not drop the siblings of $and and $or', () => {
    const right = { 'metadata.plan': 'paid' };
    const wrong = { 'metadata.plan': 'free' };

    expect(holds({ $or: [wrong, right], 'params.n': 2 })).toBe(true);
    expect(holds({ $or: [wrong, right], 'params.n': 3 })).toBe(false);
    expect(holds({ $and: [right], $or: [wrong] })).toBe(false);
    expect(holds({ $or: [{ $and: [right, wrong] }, { $and: [right, right] }] })).toBe(true);
  });

  it('judges requests without metadata and without a body', () => {
    const bare = { metadata: null, params: null, pathname: '/v1/files' };

    expect(holds({ 'metadata.plan': { $ne: 'paid' }, 'params.model': { $eq: null } }, bare)).toBe(true);
    expect(holds({ 'metadata.plan': 'paid' }, bare)).toBe(false);
  });

  it('needs no more time for an evil pattern than for a kind one', () => {
    const evil = ['^(a+)+$', '(.*)(.*)(.*)(.*)x$', '(a|a)*b'].map((pattern) => ({
      'params.model': { $regex: pattern },
    }));
    const facts = { ...FACTS, params: { model: `${'a'.repeat(50_000)}!` } };

    const before = process.cpuUsage();
    expect(evil.map((query) => holds(query, facts))).toEqual([true, false, false]);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });

  it('judges $ne and $nin as the opposites of $eq and $in, whatever is compared', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(scalar, scalar, (value, expected) => {
        const facts = { ...FACTS, params: { value } };
        expect(holds({ 'params.value': { $ne: expected } }, facts)).toBe(
          !holds({ 'params.value': { $eq: expected } }, facts),
        );
        expect(holds({ 'params.value': { $nin: [expected] } }, facts)).toBe(
          !holds({ 'params.value': { $in: [expected] } }, facts),
        );
      }),
    );
  });

  it('orders numbers by size, in text too', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (value, bound) => {
        const facts = { ...FACTS, metadata: { value: String(value) } };
        expect(holds({ 'metadata.value': { $gt: bound } }, facts)).toBe(value > bound);
        expect(holds({ 'metadata.value': { $lte: String(bound) } }, facts)).toBe(value <= bound);
      }),
    );
  });
});
