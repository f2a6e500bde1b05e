import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelTarget, withModel } from './named-model.js';

describe('modelTarget', () => {
  it.each([
    ['@openai-prod/gpt-4o', { slug: 'openai-prod', model: 'gpt-4o' }],
    ['@router/meta-llama/llama-3', { slug: 'router', model: 'meta-llama/llama-3' }],
    ['gpt-4o', null],
    ['@cf/meta/llama-3', null],
    ['@hf/x/y', null],
    ['@slug', null],
    ['@/x', null],
    ['@slug/', null],
  ])('reads %s', (model, expected) => {
    expect(modelTarget(model)).toEqual(expected);
  });
});

describe('withModel', () => {
  it('changes the value of the model and not one other byte', () => {
    const json = Buffer.from(
      '{ "a" : {"model":"@s/no"}, "mod\\u0065l" :\n "@s/gpt" , "b":["model","x"], "c": "model", "d":1.50 }',
    );

    expect(withModel(json, 'gpt').toString()).toBe(
      '{ "a" : {"model":"@s/no"}, "mod\\u0065l" :\n "gpt" , "b":["model","x"], "c": "model", "d":1.50 }',
    );
  });

  it('replaces every spelling of a key that was written twice', () => {
    expect(withModel(Buffer.from('{"model":"@s/a","model":"@s/b"}'), 'c').toString()).toBe(
      '{"model":"c","model":"c"}',
    );
  });

  it('leaves the meaning of any body as it was', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(body, fc.string(), (rest, model) => {
        const given = { ...rest, model: '@slug/x' };
        expect(JSON.parse(withModel(Buffer.from(JSON.stringify(given)), model).toString())).toEqual(
          JSON.parse(JSON.stringify({ ...given, model })),
        );
      }),
    );
  });
});
