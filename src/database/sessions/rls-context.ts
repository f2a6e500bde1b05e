import pg from 'pg';
import type { DataSource } from 'typeorm';
import { createLogger } from '../../common/observability/logger.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { hasRowLevelSecurity, TENANT_ROLE, RLS_IS_OFF } from './rls-check.js';
import type { Statement } from './tenant-query-runner.js';

/** The organization whose rows a transaction may see, and whether it may change any. */
export interface Tenancy {
  readonly organizationId: string;
  readonly isReading: boolean;
}

/** The login's own role. */
const NO_ROLE = 'none';

/** Until the end of the transaction; read-only can be switched on at any time in it. */
const settings = ([role, organization, isReadOnly]: readonly string[]): string =>
  `set_config('role', ${role}, true), set_config('gatehouse.organization_id', ${organization}, true), ` +
  `set_config('transaction_read_only', ${isReadOnly}, true)`;
const ENTER = `SELECT ${settings(['$1', '$2', '$3'])}`;

const LOOK_AGAIN_MS = 60_000;

const logger = createLogger('database');

/**
 * Row-level security, the second isolation of tenants. If the operator's database did not allow creating the role, requests run with the
 * first one only, the conditions of the queries, and `gatehouse doctor` reports it.
 */
export class RlsContext {
  private isReady = false;
  private lookAgainAt = 0;

  constructor(private readonly dataSource: DataSource) {}

  /** The beginning of a transaction for a reader with its own connection: one text, for a single round trip. */
  async beginning(tenancy: Tenancy): Promise<string> {
    const values = (await this.entering(tenancy)).map((value) => pg.escapeLiteral(value));
    return `START TRANSACTION; SELECT ${settings(values)}`;
  }

  /** Sets a transaction's tenant. It is effective for one transaction, so poolers that share sessions are safe. */
  async entrance(tenancy: Tenancy): Promise<Statement> {
    return { text: ENTER, values: await this.entering(tenancy) };
  }

  private async entering(tenancy: Tenancy): Promise<string[]> {
    return settingsOf(tenancy, (await this.isThere()) ? TENANT_ROLE : NO_ROLE);
  }

  private async isThere(): Promise<boolean> {
    if (this.isReady || performance.now() < this.lookAgainAt) return this.isReady;
    this.isReady = await hasRowLevelSecurity(this.dataSource);
    this.lookAgainAt = performance.now() + LOOK_AGAIN_MS;
    if (!this.isReady) logger.warn(RLS_IS_OFF);
    return this.isReady;
  }
}

function settingsOf({ organizationId, isReading }: Tenancy, role: string): string[] {
  if (!isUuid(organizationId)) throw new Error('An organization is named by its id.');
  return [role, organizationId, isReading ? 'on' : 'off'];
}
