import type { DataSource, EntityManager } from 'typeorm';
import { type Scope, SCOPES } from '../../auth/scopes.js';
import { issueSignInLink } from '../../common/crypto/sign-in-link.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { ApiKeyIssuer } from '../../common/crypto/api-key-issuer.js';
import { hashPassword } from '../passwords/password.js';
import { checkPassword } from '../passwords/password-policy.js';
import type { Secret } from '../../common/settings/secret.js';
import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { SignInLink } from '../passwords/sign-in-link.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { type InstallationKeys, rememberKeys, verifyKeyPepper, verifyMasterKey } from './installation.js';

export { type InstallationKeys, verifyMasterKey } from './installation.js';

/** The first owner from the settings, for unattended installations. */
export interface FirstOwner {
  /** As normalized by `normalizeEmail`. */
  readonly email: string;
  readonly password: Secret;
}

/** The result of the first start, in clear text and with the names of `bootstrap.json`: it is written out once. */
export interface BootstrapResult {
  readonly organisation_id: string;
  readonly workspace_id: string;
  readonly workspace_slug: string;
  readonly admin_api_key: string;
  readonly workspace_api_key: string;
  /** Token of the link that sets the owner's password; null when the operator set one. */
  readonly setup_token: string | null;
}

const ORGANIZATION_NAME = 'Default organization';
const WORKSPACE_NAME = 'Default workspace';
const WORKSPACE_SLUG = 'ws-default';
const OWNER_EMAIL = 'owner@localhost';
/** The end of an audit log without records. An organization that lacks it has lost its records. */
const FIRST_HEAD = "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '')";

/**
 * Creates the first organization with its workspace, owner and keys, or returns null when there is one already.
 *
 * `keep` gets the result before it is committed: if it rejects, nothing was created. Processes that start at the same time take turns, and
 * only the first creates anything. Rejects when the keys are not those of this database, and with `password_unacceptable` when the owner's
 * password is too easy to guess.
 */
export async function bootstrap(
  dataSource: DataSource,
  keys: InstallationKeys,
  keep: (result: BootstrapResult) => Promise<void>,
  owner: FirstOwner | null = null,
): Promise<BootstrapResult | null> {
  return dataSource.transaction(async (manager) => {
    await manager.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.firstKeys]);
    await verifyMasterKey(manager, keys);
    await verifyKeyPepper(manager, keys.keyPepper);
    if (await manager.existsBy(Organization, {})) return null;
    await rememberKeys(manager, keys);
    const result = await makeFirstTenant(manager, keys, owner);
    await keep(result);
    return result;
  });
}

interface FirstTenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly ownerId: string;
}

async function makeFirstTenant(
  manager: EntityManager,
  keys: InstallationKeys,
  owner: FirstOwner | null,
): Promise<BootstrapResult> {
  const [organizationId, workspaceId, ownerId] = [newId(), newId(), newId()];
  const tenant = { organizationId, workspaceId, ownerId };
  const { wrapped } = new SecretBox(keys.masterKey).makeOrganizationKey(organizationId);

  await manager.insert(Organization, {
    id: organizationId,
    name: ORGANIZATION_NAME,
    wrappedKey: wrapped,
    settings: {},
  });
  await manager.query(FIRST_HEAD, [organizationId]);
  await manager.insert(Workspace, {
    id: workspaceId,
    organizationId,
    name: WORKSPACE_NAME,
    slug: WORKSPACE_SLUG,
    isDefault: true,
  });
  await manager.insert(User, {
    id: ownerId,
    organizationId,
    email: owner?.email ?? OWNER_EMAIL,
    role: 'owner',
  });
  const setupToken = await letIn(
    manager,
    { id: ownerId, organizationId },
    { owner, keyPepper: keys.keyPepper },
  );
  await manager.insert(WorkspaceMember, { workspaceId, userId: ownerId, organizationId, role: 'admin' });
  const issuer = new ApiKeyIssuer(keys.keyPepper);
  const adminKey = await makeKey(manager, tenant, 'admin', issuer);
  const workspaceKey = await makeKey(manager, tenant, 'service', issuer);

  return {
    organisation_id: organizationId,
    workspace_id: workspaceId,
    workspace_slug: WORKSPACE_SLUG,
    admin_api_key: adminKey.reveal(),
    workspace_api_key: workspaceKey.reveal(),
    setup_token: setupToken?.reveal() ?? null,
  };
}

/** Sets the operator's password for the owner, or returns the token of a link that sets one. */
async function letIn(
  manager: EntityManager,
  user: { readonly id: string; readonly organizationId: string },
  { owner, keyPepper }: { readonly owner: FirstOwner | null; readonly keyPepper: Secret },
): Promise<Secret | null> {
  if (owner) {
    await checkPassword(owner.password.reveal(), owner.email);
    const passwordHash = await hashPassword(owner.password);
    const { id: userId, organizationId } = user;
    await manager.insert(UserCredential, {
      userId,
      organizationId,
      passwordHash,
      passwordChangedAt: new Date(),
    });
    return null;
  }
  const { token, stored } = issueSignInLink(keyPepper, user, 'set_up');
  await manager.insert(SignInLink, stored);
  return token;
}

const FIRST_KEYS = {
  admin: { format: 'admin', kind: 'organisation-service', name: 'First admin key' },
  service: { format: 'ws', kind: 'workspace-service', name: 'First workspace key' },
} as const;

/** A key with every scope that its kind can have. */
async function makeKey(
  manager: EntityManager,
  tenant: FirstTenant,
  which: keyof typeof FIRST_KEYS,
  issuer: ApiKeyIssuer,
): Promise<Secret> {
  const { format, kind, name } = FIRST_KEYS[which];
  const issued = issuer.issue(format);
  await manager.insert(ApiKey, {
    id: newId(),
    kind,
    organizationId: tenant.organizationId,
    workspaceId: which === 'admin' ? null : tenant.workspaceId,
    userId: null,
    createdByKeyId: null,
    createdByUserId: tenant.ownerId,
    creationMode: 'auto',
    name,
    scopes: (Object.keys(SCOPES) as Scope[]).filter((scope) => SCOPES[scope][which]),
    status: 'active',
    ...issued.stored,
  });
  return issued.secret;
}

function newId(): string {
  return uuidV7(Date.now());
}
