import { isScope, SCOPES } from '../../auth/scopes.js';
import { ApiKeyIssuer } from '../../common/crypto/api-key-issuer.js';
import { ApiKey } from '../../admin/api-keys/api-key.entity.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { asOperator, findActiveUser, type OperatorSession } from './operator-session.js';

export interface CreateAdminKeyOptions extends JsonOption {
  readonly name: string;
  /** Email address of the user the key acts for; default: the oldest active owner. */
  readonly user?: string;
  readonly organization?: string;
}

/** `gatehouse api-key create-admin`. Returns the exit code. */
export async function createAdminKeyCommand(
  environment: NodeJS.ProcessEnv,
  options: CreateAdminKeyOptions,
): Promise<number> {
  const key = await asOperator(environment, (session) => newAdminKey(session, options));
  const output = new CommandOutput(options);
  if (options.json) output.result({ name: options.name, key });
  else output.say(key);
  return 0;
}

/** An admin key with every scope that one can have. Its user's permissions limit it. */
export async function newAdminKey(
  { manager, keyPepper, record }: OperatorSession,
  { name, user: email, organization }: CreateAdminKeyOptions,
): Promise<string> {
  const user = await findActiveUser(manager, { email, organization });
  const { secret, stored } = new ApiKeyIssuer(keyPepper).issue('admin');
  const id = uuidV7(Date.now());
  await manager.insert(ApiKey, {
    id,
    kind: 'organisation-service',
    organizationId: user.organizationId,
    workspaceId: null,
    userId: null,
    createdByKeyId: null,
    createdByUserId: user.id,
    creationMode: 'auto',
    name,
    scopes: Object.keys(SCOPES).filter((scope) => isScope(scope) && SCOPES[scope].admin),
    status: 'active',
    ...stored,
  });
  record({
    organizationId: user.organizationId,
    action: 'organisation_service_api_keys.create',
    targetId: id,
    command: 'gatehouse api-key create-admin',
  });
  return secret.reveal();
}
