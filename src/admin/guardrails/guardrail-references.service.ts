import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { HOOK_LIST_NAMES } from '../../routing-config/guardrails/read-hooks.js';
import { Guardrail } from './guardrail.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** The owner of the reference: one workspace, or null for the whole organization, which can only use its own guardrails. */
export interface ReferenceScope {
  readonly organizationId: string;
  readonly workspaceId: string | null;
}

/** The lists of guardrails that apply to all requests of a workspace or an organization. */
export interface GuardrailLists {
  readonly input_guardrails?: readonly string[] | null;
  readonly output_guardrails?: readonly string[] | null;
}

const LISTS = ['input_guardrails', 'output_guardrails'] as const;

/** Any list in a routing document, at any depth, that names the guardrail. */
const NAMED_IN_DOCUMENT = `$.** ? (${HOOK_LIST_NAMES.map((list) => `@.${list}[*] == $slug || @.${list}[*] == $id`).join(' || ')})`;

const IN_LISTS = (column: string): string =>
  LISTS.map((list) => `${column} -> '${list}' ?| ARRAY[$2, $3]`).join(' OR ');

/** Descriptions of the places where a guardrail is used. */
const USES = `
  SELECT 'the config ' || config.slug AS what
  FROM configs config JOIN config_versions version ON version.id = config.version_id
  WHERE config.organization_id = $1
    AND jsonb_path_exists(version.document, '${NAMED_IN_DOCUMENT}', jsonb_build_object('slug', $2::text, 'id', $3::text))
  UNION ALL
  SELECT 'the workspace ' || slug FROM workspaces WHERE organization_id = $1 AND (${IN_LISTS('defaults')})
  UNION ALL
  SELECT 'the organization' FROM organizations WHERE id = $1 AND (${IN_LISTS('settings')})
  LIMIT 10`;

/** Tracks where stored guardrails are used: a reference must exist, and a used guardrail cannot be deleted. */
@Injectable()
export class GuardrailReferences {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Guardrail) private readonly guardrails: Repository<Guardrail>,
  ) {}

  /** Those of the given slugs and ids that are not a guardrail usable there. Existing ones are locked until the end of the transaction. */
  async missing(
    { organizationId, workspaceId }: ReferenceScope,
    names: readonly string[],
  ): Promise<Set<string>> {
    const known = new Set<string>();
    const slugs = names.filter((name) => isSlug(name));
    const ids = names.filter((name) => isUuid(name)).map((id) => id.toLowerCase());
    const places = workspaceId === null ? [IsNull()] : [IsNull(), workspaceId];
    if (slugs.length + ids.length > 0) {
      const rows = await this.guardrails.find({
        where: places.flatMap((place) => [
          { organizationId, workspaceId: place, slug: In(slugs) },
          { organizationId, workspaceId: place, id: In(ids) },
        ]),
        lock: { mode: 'pessimistic_read' },
      });
      for (const { id, slug } of rows) known.add(id).add(slug);
    }
    return new Set(names.filter((name) => !known.has(name) && !known.has(name.toLowerCase())));
  }

  /** Refuses with `invalid_request` lists that name a missing guardrail. `path` prefixes their names. */
  async check(place: ReferenceScope, lists: GuardrailLists, path: string): Promise<void> {
    const named = LISTS.flatMap((list) =>
      (lists[list] ?? []).map((name, index) => ({ name, at: `${path}${list}[${index}]` })),
    );
    const missing = await this.missing(
      place,
      named.map(({ name }) => name),
    );
    const wrong = named.filter(({ name }) => missing.has(name)).map(({ at }) => at);
    if (wrong.length > 0)
      throw new AppError('invalid_request', {
        detail: `${wrong.join(', ')} ${wrong.length === 1 ? 'names' : 'name'} no guardrail that can be used here. GET /v1/guardrails lists them.`,
      });
  }

  /** Refuses with `conflict` while it is used: the requests that it guards would all be refused. The caller holds its row's lock. */
  async checkUnused({ organizationId, id, slug }: Guardrail): Promise<void> {
    const rows: { what: string }[] = await this.unitOfWork.manager.query(USES, [organizationId, slug, id]);
    if (rows.length === 0) return;
    throw new AppError('conflict', {
      detail: `The guardrail is used by ${rows.map(({ what }) => what).join(', ')}. Remove it there first.`,
    });
  }
}
