import { hostname, userInfo } from 'node:os';
import type { EntityManager } from 'typeorm';
import { loadSettings } from '../../common/settings/settings.js';
import { baseUrl } from '../../common/settings/base-url.js';
import type { Secret } from '../../common/settings/secret.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { readBootstrapFile } from '../bootstrap-file.js';
import { resolveSecrets } from '../data-folder.js';
import { readSchemaState } from '../database/schema-state.js';
import { withRunningDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';

/** A command's action, for the audit trail. */
interface OperatorAction {
  readonly organizationId: string;
  /** As for a request with the same effect, such as `passwords.update`. */
  readonly action: string;
  readonly targetId: string;
  /** The command without its arguments, such as `gatehouse user reset-password`. */
  readonly command: string;
}

/** What commands of the operator work with. */
export interface OperatorSession {
  readonly manager: EntityManager;
  readonly keyPepper: Secret;
  /** Where clients reach the service. */
  readonly baseUrl: string;
  /** Adds an audit record, written with the commit. */
  readonly record: (action: OperatorAction) => void;
}

export interface ActiveUser {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
}

/**
 * Runs a command in one transaction of the instance's database, with its audit record. Anyone who can run it already has the installation's
 * keys, so it asks for no other credential. It works beside a running service.
 */
export async function asOperator<T>(
  environment: NodeJS.ProcessEnv,
  work: (session: OperatorSession) => Promise<T>,
): Promise<T> {
  const settings = loadSettings(environment);
  return withRunningDatabase(settings, async (url) => {
    const secrets = await resolveSecrets(settings);
    const { pending, populated } = await readSchemaState(url, secrets);
    if (pending.length > 0 || !populated)
      throw new LauncherError('The database is not set up for this release. Start the service first.');
    const { createDataSource } = await import('../../schema/data-source.js');
    const { UnitOfWork } = await import('../../database/unit-of-work.js');
    const { auditChainOf } = await import('./audit-chain-of.js');
    const dataSource = await createDataSource(url.reveal(), 2, 'requests').initialize();
    try {
      const unitOfWork = new UnitOfWork(dataSource);
      const chain = await auditChainOf(unitOfWork, secrets);
      const first = await readBootstrapFile(settings.dataDir);
      const address = settings.port === 0 && first ? first.base_url : baseUrl(settings, settings.port);
      return await unitOfWork.run(() =>
        work({
          manager: unitOfWork.manager,
          keyPepper: secrets.keyPepper,
          baseUrl: address,
          record: (action) => chain.append(recordOf(action)),
        }),
      );
    } finally {
      await dataSource.destroy();
    }
  });
}

/** The operator's IP address: the command runs on the machine of the service. */
const LOOPBACK = '127.0.0.1';

function recordOf({ organizationId, action, targetId, command }: OperatorAction) {
  const id = uuidV7(Date.now());
  const [targetType = action] = action.split('.');
  return {
    ...{ id, organizationId, action, targetId, targetType, at: new Date(), requestId: id },
    ...{
      actorKind: 'operator',
      actorId: null,
      actorName: `${userInfo().username}@${hostname()}`,
      userId: null,
      queryParams: null,
      requestHeaders: null,
    },
    ...{ method: 'POST', path: command, ip: LOOPBACK, workspaceId: null },
    ...{
      request: null,
      before: null,
      after: null,
      outcome: 'success' as const,
      status: 200,
      errorCode: null,
    },
  };
}

const USERS = `
  SELECT id, organization_id AS "organizationId", email FROM users
  WHERE status = 'active' AND ($1::text IS NULL OR lower(email) = $1) AND ($1::text IS NOT NULL OR role = 'owner')
    AND ($2::uuid IS NULL OR organization_id = $2)
  ORDER BY created_at, id`;

/** The active user with the address, or the oldest active owner when none is given. */
export async function findActiveUser(
  manager: EntityManager,
  {
    email,
    organization,
  }: { readonly email?: string | undefined; readonly organization?: string | undefined },
): Promise<ActiveUser> {
  const normal = email === undefined ? null : normalizeEmail(email);
  if (email !== undefined && normal === null) throw new LauncherError(`"${email}" is not an e-mail address.`);
  const users = await manager.query<ActiveUser[]>(USERS, [normal, organization ?? null]);
  const [user] = users;
  if (!user)
    throw new LauncherError(
      email === undefined
        ? 'There is no active owner.'
        : `There is no active user with the address ${email}.`,
    );
  const organizations = [...new Set(users.map(({ organizationId }) => organizationId))];
  if (organizations.length > 1)
    throw new LauncherError(
      `Several organizations match. Choose one with --organization: ${organizations.join(', ')}.`,
    );
  return user;
}
