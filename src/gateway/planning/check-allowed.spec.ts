import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { Json } from '../../providers/endpoint.js';
import type { RequestContent } from '../types/content.js';
import type { AllowedModels, Target } from '../types/target.js';
import { checkAllowed, checkModel, checkPolicy } from './check-allowed.js';

const aTarget = (models?: AllowedModels): Target => ({
  ...{ origin: 'https://models.example', basePath: '', query: '', isCustomHost: false, forwarded: null },
  provider: findProvider('google'),
  virtualKey: { id: 'vk', slug: 'vk', ...(models && { models }) },
  credentials: { key: null, fields: {} },
});
const models: AllowedModels = { names: new Set(['gemini-2.5-flash']), areAllowed: true };
const policy = { providers: null, models: models.names, keepsBodies: true, needsLog: false };
const session = (path: string, model: string | null): RequestContent => ({
  ...{ path: { path, query: '', isProxied: false }, body: null, json: null, model, isStreamed: true },
  isWebSocket: true,
});
const live = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

/** The result of opening a session, whose request is a GET. */
function outcomeOf(content: RequestContent, caller = aCaller(), target = aTarget()): string {
  const endpoint = findEndpointRow('GET', content.path.path);
  try {
    checkAllowed(caller, target, content, { endpoint, method: 'GET', path: content.path.path });
    return 'allowed';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('a list of models', () => {
  it('allows no session whose model only its messages name', () => {
    expect(outcomeOf(session(live, null), aCaller({ policy }))).toBe('model_not_allowed');
    expect(outcomeOf(session(live, null), aCaller(), aTarget(models))).toBe('model_not_allowed');
    expect(outcomeOf(session(live, null))).toBe('allowed');
  });

  it('allows a session whose address names an allowed model', () => {
    for (const [model, outcome] of [
      ['gemini-2.5-flash', 'allowed'],
      ['another', 'model_not_allowed'],
    ] as const)
      expect(outcomeOf(session('/realtime', model), aCaller({ policy }), aTarget(models))).toBe(outcome);
  });
});

describe('a list of models and a request for an agent', () => {
  const refusalOf = (path: string, json: Json, caller = aCaller(), target = aTarget()): unknown => {
    const endpoint = findEndpointRow('POST', path);
    const content: RequestContent = { ...session(path, 'gemini-2.5-flash'), json };
    try {
      checkAllowed(caller, target, content, { endpoint, method: 'POST', path });
      return null;
    } catch (error) {
      return error;
    }
  };
  const refused = (member: string): unknown =>
    expect.objectContaining({
      code: 'model_not_allowed',
      message: `A request for an agent ("${member}"), whose models the gateway cannot see, is not allowed for this credential. GET /v1/models lists the allowed models.`,
    });

  it.each([
    ['/interactions', 'agent'],
    ['/agents/completions', 'agent_id'],
  ])('refuse %s with the member %s, also beside an allowed model', (path, member) => {
    const json = { model: 'gemini-2.5-flash', [member]: 'deep-research' };

    expect(refusalOf(path, json, aCaller({ policy }))).toEqual(refused(member));
    expect(refusalOf(path, json, aCaller(), aTarget(models))).toEqual(refused(member));
    expect(refusalOf(path, json)).toBeNull();
    expect(refusalOf(path, { ...json, [member]: null }, aCaller({ policy }), aTarget(models))).toBeNull();
  });
});

it('a request without a model is refused in a sentence', () => {
  expect(() => checkModel(aTarget(models), null, { method: 'POST' })).toThrow(
    /^A request that does not show its model is not allowed for this credential\. /,
  );
});

const only: AllowedModels = { names: new Set(['gpt-4o']), areAllowed: true };
const allBut: AllowedModels = { names: new Set(['gpt-4o']), areAllowed: false };

describe('checkModel', () => {
  it.each([
    ['a model of the list', only, 'gpt-4o', 'POST'],
    ['a model that is no exception', allBut, 'other', 'POST'],
    ['reading without a model', only, null, 'GET'],
    ['deleting without a model', only, null, 'DELETE'],
  ] as const)('lets through %s', (_, allowed, model, method) => {
    expect(() => checkModel(aTarget(allowed), model, { method })).not.toThrow();
  });

  it.each([
    ['a model that is not in the list', only, 'other', 'POST'],
    ['another spelling', only, 'GPT-4o', 'POST'],
    ['an exception', allBut, 'gpt-4o', 'POST'],
    ['an exception in another case', allBut, 'GPT-4o', 'POST'],
    ['an exception with white space', allBut, ' gpt-4o ', 'POST'],
    ['an exception behind the name of its provider', allBut, 'google/gpt-4o', 'POST'],
    ['a forbidden model, however it is asked for', only, 'other', 'GET'],
    ['a body that nobody read', only, null, 'POST'],
    ['a body that nobody read, where there are exceptions', allBut, null, 'POST'],
  ] as const)('refuses %s', (_, allowed, model, method) => {
    expect(() => checkModel(aTarget(allowed), model, { method })).toThrow(
      expect.objectContaining({ code: 'model_not_allowed' }),
    );
  });
});

describe('a refused model', () => {
  const allowed = (...names: string[]): ReadonlySet<string> => new Set(names);
  const policyOf = (names: ReadonlySet<string>) => ({ ...policy, models: names });
  const HINT = ' for this credential (did you mean "gpt-4o"?).';

  it.each([
    ['the list of the key', null, { names: allowed('gpt-4o'), areAllowed: true }, 'gpt-4', HINT],
    ['the policy', policyOf(allowed('gpt-4o')), undefined, 'gpt-4', HINT],
    ['both lists', policyOf(allowed('gpt-4o', 'gpt-4.1')), only, 'gpt-4', HINT],
    [
      'the policy without the exceptions of the key',
      policyOf(allowed('gpt-4o')),
      allBut,
      'gpt-4',
      ' for this credential.',
    ],
    [
      'the list of the key within the policy',
      policyOf(allowed('o3')),
      only,
      'gpt-4',
      ' for this credential.',
    ],
    ['no list that is near', policyOf(allowed('gpt-4o')), undefined, 'claude', ' for this credential.'],
  ] as const)('suggests names of %s', (_, given, rule, model, text) => {
    const target = aTarget(rule);
    const check = (): void => {
      if (given) checkPolicy(given, target, model);
      checkModel(target, model, { policy: given });
    };

    expect(check).toThrow(
      `The model "${model}" is not allowed${text} GET /v1/models lists the allowed models.`,
    );
  });
});
