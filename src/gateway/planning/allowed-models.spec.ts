import { describe, expect, it } from 'vitest';
import type { AllowedModels, Target } from '../types/target.js';
import { checkModel } from './allowed-models.js';

const at = (models?: AllowedModels): Target =>
  ({ virtualKey: { id: 'id', slug: 'shared', ...(models ? { models } : {}) } }) as Target;
const only = at({ names: new Set(['gpt-4o']), areAllowed: true });
const allBut = at({ names: new Set(['gpt-4o']), areAllowed: false });

describe('checkModel', () => {
  it.each([
    ['any model where nothing is said', at(), 'other', 'POST'],
    ['no model where nothing is said', at(), null, 'POST'],
    ['any model without a virtual key', { virtualKey: null } as Target, 'other', 'POST'],
    ['a model of the list', only, 'gpt-4o', 'POST'],
    ['a model that is no exception', allBut, 'other', 'POST'],
    ['reading without a model', only, null, 'GET'],
    ['deleting without a model', only, null, 'DELETE'],
  ] as const)('lets through %s', (_, target, model, method) => {
    expect(() => checkModel(target, model, method)).not.toThrow();
  });

  it.each([
    ['a model that is not in the list', only, 'other', 'POST'],
    ['another spelling', only, 'GPT-4o', 'POST'],
    ['an exception', allBut, 'gpt-4o', 'POST'],
    ['a forbidden model, however it is asked for', only, 'other', 'GET'],
    ['a body that nobody read', only, null, 'POST'],
    ['a body that nobody read, where there are exceptions', allBut, null, 'POST'],
  ] as const)('refuses %s', (_, target, model, method) => {
    expect(() => checkModel(target, model, method)).toThrow(
      expect.objectContaining({ code: 'model_not_allowed' }),
    );
  });
});
