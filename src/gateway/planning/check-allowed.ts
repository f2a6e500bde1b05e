import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Entry } from '../recording/entry.js';
import type { Content } from '../types/content.js';
import type { Target } from '../types/target.js';
import { checkModel } from './allowed-models.js';
import { checkPolicy } from './check-policy.js';

/**
 * Checks the policy of the organization and the credential before anything is sent. Throws as `checkPolicy` and `checkModel` do, and
 * `body_unreadable` if the body hides the model.
 */
export function checkAllowed(
  { policy }: Principal,
  target: Target,
  content: Content,
  entry: Pick<Entry, 'chargeAt' | 'endpoint' | 'method'>,
): void {
  const { model, unreadable } = content;
  if (policy) checkPolicy(policy, target.provider.id, model);
  const isHidden = isUnreadSession(content, entry);
  if (policy?.models && model === null && (isHidden || entry.chargeAt(target) !== 'nothing'))
    throw hiddenModel(unreadable);
  if (target.virtualKey?.models) checkModel(target.virtualKey.models, model, isHidden ? '' : entry.method);
}

/** A WebSocket begins as a GET, and only its messages name the model. */
const isUnreadSession = ({ isWebSocket }: Content, { endpoint }: Pick<Entry, 'endpoint'>): boolean =>
  isWebSocket === true && !endpoint?.usage;

/** The gateway cannot allow a model that it cannot see. */
const hiddenModel = (detail: string | undefined): AppError =>
  detail === undefined
    ? new AppError('model_not_allowed', { model: 'that the request does not show' })
    : new AppError('body_unreadable', { reader: 'the model policy of your organization', detail });

/**
 * The same for a form of which only the head is known, so that an upload is not read only to be refused for something known before. A model
 * that has not arrived yet is checked when it has.
 */
export function checkShown({ policy }: Principal, target: Target, { model }: Content): void {
  if (policy) checkPolicy(policy, target.provider.id, model);
  if (model !== null && target.virtualKey?.models) checkModel(target.virtualKey.models, model);
}
