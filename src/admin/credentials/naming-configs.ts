import type { EntityManager } from 'typeorm';
import { AppError } from '../../common/errors/app-error.js';

/** A stored credential under the slug by which configs name it: a virtual key, or a provider of an integration. */
interface NamedCredential {
  readonly organizationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
}

/** Any part of a routing document, at any depth, that names the credential. */
const NAMED = `$.** ? (@.virtual_key == $slug || @.virtual_key == $at || @.virtualKey == $slug || @.virtualKey == $at || @.provider == $at)`;

const CONFIGS_THAT_NAME_IT = `
  SELECT config.slug FROM configs config JOIN config_versions version ON version.id = config.version_id
  WHERE config.organization_id = $1 AND config.workspace_id = $2
    AND jsonb_path_exists(version.document, '${NAMED}', jsonb_build_object('slug', $3::text, 'at', $4::text))
  ORDER BY config.slug LIMIT 10`;

/** Refuses with `conflict` while configs name the credential: their requests would fail. `kind` is its name in the message. */
export async function checkNoConfigNames(
  manager: EntityManager,
  { organizationId, workspaceId, slug }: NamedCredential,
  kind: 'virtual key' | 'provider',
): Promise<void> {
  const parameters = [organizationId, workspaceId, slug, `@${slug}`];
  const rows: { slug: string }[] = await manager.query(CONFIGS_THAT_NAME_IT, parameters);
  if (rows.length === 0) return;
  const configs = rows.map((config) => config.slug).join(', ');
  const which = kind === 'provider' ? `provider ${slug}` : kind;
  throw new AppError('conflict', {
    detail: `The ${which} is used by the config${rows.length === 1 ? '' : 's'} ${configs}. Remove it there first.`,
  });
}
