import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Entry } from '../recording/entry.js';
import type { Content } from '../types/content.js';
import type { Target } from '../types/target.js';
import { checkModel } from './allowed-models.js';
import { checkPolicy } from './check-policy.js';

/**
 * What the organization and the credential allow, before anything is sent. Throws as `checkPolicy` and `checkModel` do,
 * and `body_unreadable` where the body hides the model.
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

/** A model that the gateway cannot see, it cannot allow. */
const hiddenModel = (detail: string | undefined): AppError =>
  detail === undefined
    ? new AppError('model_not_allowed', { model: 'that the request does not show' })
    : new AppError('body_unreadable', { reader: 'the model policy of your organization', detail });

/**
 * The same of a form of which only the head is known, so that nobody's upload is read to be refused for what could be seen
 * before. A model that has not come yet is judged when it has.
 */
export function checkShown({ policy }: Principal, target: Target, { model }: Content): void {
  if (policy) checkPolicy(policy, target.provider.id, model);
  if (model !== null && target.virtualKey?.models) checkModel(target.virtualKey.models, model);
}
