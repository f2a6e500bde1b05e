import { describe, expect, it } from 'vitest';
import { geminiJsonSchema } from './schema.js';

describe('a JSON Schema for Gemini', () => {
  it.each<[string, unknown, unknown]>([
    [
      'keeps references and definitions',
      { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' } } },
      { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' } } },
    ],
    [
      'renames definitions of older drafts',
      { definitions: { a: { const: 'b' } }, items: { $ref: '#/definitions/a' } },
      { $defs: { a: { enum: ['b'] } }, items: { $ref: '#/$defs/a' } },
    ],
    [
      'keeps what stands beside a reference',
      { anyOf: [{ $ref: '#/$defs/a', description: 'd' }] },
      { anyOf: [{ description: 'd', anyOf: [{ $ref: '#/$defs/a' }] }] },
    ],
    [
      'leaves properties alone that are named like keywords',
      { properties: { const: { type: 'string' }, $ref: { type: 'number' }, definitions: { const: 1 } } },
      { properties: { const: { type: 'string' }, $ref: { type: 'number' }, definitions: { enum: [1] } } },
    ],
    [
      'leaves values alone',
      { enum: [{ const: 'x' }], default: { $ref: 'y', z: 1 } },
      { enum: [{ const: 'x' }], default: { $ref: 'y', z: 1 } },
    ],
    [
      'leaves booleans alone',
      { additionalProperties: false, const: true },
      { additionalProperties: false, const: true },
    ],
  ])('%s', (_, schema, expected) => {
    expect(geminiJsonSchema(schema)).toEqual(expected);
  });

  it('may be nested as deep as JSON can be', () => {
    let schema: Record<string, unknown> = { type: 'string' };
    for (let depth = 0; depth < 50_000; depth += 1) schema = { items: schema };
    expect(() => geminiJsonSchema(schema)).not.toThrow();
  });
});
