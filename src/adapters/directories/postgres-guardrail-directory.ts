import { isPromise } from '../../common/maybe-promise.js';
import type { Reach } from '../../auth/tenant.js';
import { type ChangeFeed, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import {
  type CheckSecrets,
  guardrailPurpose,
  withSecrets,
} from '../../routing-config/guardrails/check-secrets.js';
import { readActions, readChecks } from '../../routing-config/guardrails/read-hooks.js';
import { type Mistake, DocumentPath } from '../../routing-config/document-path.js';
import type { SecretBox } from '../../common/crypto/envelope.js';
import type { Queryable } from '../../database/queryable.js';
import { AppError } from '../../common/errors/app-error.js';
import { GuardrailDirectory, type GuardrailSnapshot } from '../../gateway/ports.js';
import type { Memory, RememberingDirectory } from './snapshot/memory.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

interface GuardrailRow {
  readonly id: string;
  readonly slug: string;
  readonly organization_id: string;
  readonly checks: readonly Readonly<Record<string, unknown>>[];
  readonly actions: Readonly<Record<string, unknown>>;
  readonly sealed_secrets: Buffer | null;
  readonly wrapped_key: Buffer;
}

interface GuardrailLookup {
  readonly reach: Reach;
  readonly named: string;
}

/** A guardrail that cannot be decrypted or parsed is cached briefly as its error. */
interface OpenedGuardrail {
  readonly id: string;
  readonly opened: GuardrailSnapshot | AppError;
}

const BY_NAME = `
  SELECT guardrail.id, guardrail.slug, guardrail.organization_id, guardrail.checks, guardrail.actions,
    guardrail.sealed_secrets, organization.wrapped_key
  FROM guardrails guardrail JOIN organizations organization ON organization.id = guardrail.organization_id
  WHERE guardrail.organization_id = $1 AND (guardrail.slug = $2 OR guardrail.id::text = lower($2))
    AND ($3::uuid IS NULL OR guardrail.workspace_id = $3 OR guardrail.workspace_id IS NULL)`;

const UNUSABLE_AGES: Ages = { softMs: 5_000, hardMs: 5_000, staleMs: 5_000 };
const NAME_CHARS_MAX = 64;
const OPENED_MAX = 10_000;

/** Stored guardrails from PostgreSQL, parsed and decrypted once when they are loaded. */
export class PostgresGuardrailDirectory extends GuardrailDirectory implements RememberingDirectory {
  private readonly cache: RefreshingCache<GuardrailLookup, GuardrailRow, OpenedGuardrail>;

  /** `staleMs`: how long known guardrails stay in use while the database is unavailable. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    private readonly secrets: SecretBox,
    staleMs: number,
  ) {
    super();
    const ages: Ages = { softMs: 10_000, hardMs: UNHEARD_CHANGE_MS, staleMs };
    this.cache = new RefreshingCache({
      load: (lookup) => this.load(lookup),
      open: (row) => ({ id: row.id, opened: this.open(row) }),
      question: BY_NAME,
      idOf: ({ id }) => id,
      agesOf: ({ opened }) => (opened instanceof AppError ? UNUSABLE_AGES : ages),
      maxFound: OPENED_MAX,
    });
    changes.subscribe((change) => {
      if (change === null) this.cache.clear();
      else if (change.resource === 'guardrail') this.cache.forget(change.id);
    });
  }

  get memories(): readonly Memory[] {
    return [this.cache];
  }

  override find(reach: Reach, named: string): GuardrailSnapshot | null | Promise<GuardrailSnapshot | null> {
    if (named.length > NAME_CHARS_MAX || named.includes('\0')) return null;
    const key = `${reach.organizationId}/${reach.workspaceId ?? ''}/${named}`;
    const guardrail = this.cache.find(key, { reach, named });
    if (isPromise(guardrail)) return guardrail.then(snapshotOf);
    return guardrail?.opened instanceof AppError
      ? Promise.reject(guardrail.opened)
      : (guardrail?.opened ?? null);
  }

  private async load({ reach, named }: GuardrailLookup): Promise<GuardrailRow | null> {
    const parameters = [reach.organizationId, named, reach.workspaceId ?? null];
    const [row] = await this.database.query<GuardrailRow>(BY_NAME, parameters);
    return row ?? null;
  }

  private open(row: GuardrailRow): GuardrailSnapshot | AppError {
    try {
      const mistakes: Mistake[] = [];
      const place = DocumentPath.root(mistakes, row.slug);
      const checks = readChecks(withSecrets(row.checks, this.secretsOf(row)), place.at('checks'));
      const actions = readActions(row.actions, place.at('actions'));
      const [mistake] = mistakes;
      if (mistake || !actions)
        throw new Error(`The stored guardrail cannot be read: ${mistake?.path ?? ''}.`);
      return { id: row.id, spec: { id: row.slug, type: 'guardrail', checks, ...actions } };
    } catch (error) {
      return error instanceof AppError ? error : new AppError('internal_error', {}, { cause: error });
    }
  }

  private secretsOf({ id, organization_id, sealed_secrets, wrapped_key }: GuardrailRow): CheckSecrets {
    if (!sealed_secrets) return {};
    const key = { organizationId: organization_id, wrapped: wrapped_key };
    const clear = this.secrets.openText(key, guardrailPurpose(organization_id, id), sealed_secrets);
    return JSON.parse(clear.reveal()) as CheckSecrets;
  }
}

function snapshotOf(guardrail: OpenedGuardrail | null): GuardrailSnapshot | null {
  if (guardrail?.opened instanceof AppError) throw guardrail.opened;
  return guardrail?.opened ?? null;
}
