import { describe, expect, it } from 'vitest';
import type { AllowedModels } from '../types/target.js';
import { checkModel } from './allowed-models.js';

const only: AllowedModels = { names: new Set(['gpt-4o']), areAllowed: true };
const allBut: AllowedModels = { names: new Set(['gpt-4o']), areAllowed: false };

describe('checkModel', () => {
  it.each([
    ['a model of the list', only, 'gpt-4o', 'POST'],
    ['a model that is no exception', allBut, 'other', 'POST'],
    ['reading without a model', only, null, 'GET'],
    ['deleting without a model', only, null, 'DELETE'],
  ] as const)('lets through %s', (_, allowed, model, method) => {
    expect(() => checkModel(allowed, model, method)).not.toThrow();
  });

  it.each([
    ['a model that is not in the list', only, 'other', 'POST'],
    ['another spelling', only, 'GPT-4o', 'POST'],
    ['an exception', allBut, 'gpt-4o', 'POST'],
    ['a forbidden model, however it is asked for', only, 'other', 'GET'],
    ['a body that nobody read', only, null, 'POST'],
    ['a body that nobody read, where there are exceptions', allBut, null, 'POST'],
  ] as const)('refuses %s', (_, allowed, model, method) => {
    expect(() => checkModel(allowed, model, method)).toThrow(
      expect.objectContaining({ code: 'model_not_allowed' }),
    );
  });
});
