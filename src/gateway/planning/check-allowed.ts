import type { OrganizationPolicy, Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { fieldError } from '../../common/errors/field-errors.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { sameModelIn } from '../../common/text/model-name.js';
import type { RequestContent } from '../types/content.js';
import { modelTarget } from './named-model.js';
import { refuseRepeatedMember } from '../types/repeated-member.js';
import { chargeAt, type ExchangeFacts } from '../types/exchange-facts.js';
import type { AllowedModels, Target } from '../types/target.js';

/**
 * Checks the policy of the organization and the credential before anything is sent. Throws as `checkPolicy` and `checkModel` do, and
 * `body_unreadable` or `invalid_request` if the body hides the model or names two.
 */
export function checkAllowed(
  { policy }: Principal,
  target: Target,
  content: RequestContent,
  facts: Pick<ExchangeFacts, 'endpoint' | 'method' | 'path'>,
): void {
  const { model, unreadable } = content;
  if (policy) checkPolicy(policy, target, model);
  checkOneModel(policy, target, content);
  checkNoAgent(policy, target, content, facts);
  const isHidden = isUnreadSession(content, facts);
  if (policy?.models && model === null && (isHidden || chargeAt(facts, target) !== 'nothing'))
    throw hiddenModel(unreadable);
  if (target.virtualKey?.models) checkModel(target, model, { method: isHidden ? '' : facts.method, policy });
}

function checkOneModel(policy: Principal['policy'], { virtualKey }: Target, content: RequestContent): void {
  if (policy?.models) refuseRepeatedMember(content, POLICY);
  if (virtualKey?.models) refuseRepeatedMember(content, KEY);
}

const POLICY = 'the model policy of your organization';
const KEY = 'the list of models of the virtual key';

/** The models of an agent are those that its owner gave it, so that a list of models would allow every one. */
function checkNoAgent(
  policy: Principal['policy'],
  { virtualKey }: Target,
  { json }: RequestContent,
  { endpoint }: Pick<ExchangeFacts, 'endpoint'>,
): void {
  if (!policy?.models && !virtualKey?.models) return;
  const member = endpoint?.agentMember;
  if (member === undefined || (json?.[member] ?? null) === null) return;
  throw new AppError('model_not_allowed', {
    request: `A request for an agent ("${member}"), whose models the gateway cannot see,`,
    parameter: member,
  });
}

/** A WebSocket begins as a GET, and only its messages name the model. */
const isUnreadSession = (
  { isWebSocket }: RequestContent,
  { endpoint }: Pick<ExchangeFacts, 'endpoint'>,
): boolean => isWebSocket === true && !endpoint?.usage;

/** The gateway cannot allow a model that it cannot see. */
const unnamedModel = (): AppError =>
  new AppError('model_not_allowed', { request: 'A request that does not show its model' });

const hiddenModel = (detail: string | undefined): AppError =>
  detail === undefined ? unnamedModel() : new AppError('body_unreadable', { reader: POLICY, detail });

/**
 * The same for a form of which only the head is known, so that an upload is not read only to be refused for something known before. A model
 * that has not arrived yet is checked when it has.
 */
export function checkShown({ policy }: Principal, target: Target, { model }: RequestContent): void {
  if (policy) checkPolicy(policy, target, model);
  if (model !== null) checkModel(target, model, { policy });
}

/**
 * Checks a model that a form names after its file, when the request is already being sent to `target`. Throws `invalid_request` if it names
 * a virtual key, and as `checkPolicy` does.
 */
export function checkLateModel({ policy }: Principal, target: Target, model: string): void {
  if (modelTarget(model))
    throw fieldError('model', 'names a virtual key, so it must come before the file in the form');
  if (policy) checkPolicy(policy, target, model);
}

/** Methods that do not use a model. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Throws `model_not_allowed` for a model that a virtual key must not be used for. `model` is the one that goes upstream; null if it was not
 * read: the gateway cannot allow a model that it cannot see, so such a request may only read and delete. An allowed name is compared exactly,
 * a forbidden one whatever its spelling.
 */
export function checkModel(
  target: NamedTarget,
  model: string | null,
  { method = '', policy }: { readonly method?: string; readonly policy?: Principal['policy'] } = {},
): void {
  const rule = target.virtualKey?.models;
  if (!rule) return;
  const isAllowed = model === null ? READING.has(method) : allows(rule, model, target.provider.id);
  if (!isAllowed) throw notAllowed(model, policy ?? null, target);
}

type NamedTarget = Pick<Target, 'provider' | 'virtualKey'>;

const allows = ({ names, areAllowed }: AllowedModels, model: string, providerId: string): boolean =>
  areAllowed ? names.has(model) : !names.has(model) && sameModelIn(names, model, providerId) === null;

/** Throws `provider_not_allowed` or `model_not_allowed` for requests that the policy of the caller's organization forbids. */
export function checkPolicy(policy: OrganizationPolicy, target: NamedTarget, model: string | null): void {
  const { providers, models } = policy;
  const provider = target.provider.id;
  if (providers && !providers.has(provider)) throw new AppError('provider_not_allowed', { provider });
  if (models && model !== null && !models.has(model)) throw notAllowed(model, policy, target);
}

const LONGEST_COMPARED = 100;

/** Suggests only models that the caller may use at this target. */
function notAllowed(
  model: string | null,
  policy: OrganizationPolicy | null,
  { provider, virtualKey }: NamedTarget,
): AppError {
  if (model === null) return unnamedModel();
  const rule = virtualKey?.models;
  const listed = new Set([...(policy?.models ?? []), ...(rule?.areAllowed ? rule.names : [])]);
  const usable = [...listed].filter(
    (name) => policy?.models?.has(name) !== false && (!rule || allows(rule, name, provider.id)),
  );
  return new AppError('model_not_allowed', {
    request: `The model "${model}"`,
    hint: didYouMean(model.slice(0, LONGEST_COMPARED), usable),
  });
}
