import { AppError } from '../../common/errors/app-error.js';
import { slugOfName, withSuffix } from '../../common/ids/slug-of-name.js';

/** How a new resource gets its slug. */
export interface WantedSlug {
  /** Chosen by the client; used exactly, or refused. */
  readonly chosen: string | undefined;
  readonly name: string;
  /** For names without a character that is valid in a slug. */
  readonly otherwise: string;
}

/**
 * Inserts a new resource under its slug and returns the slug. A slug derived from the name gets a suffix when it is taken; one that the
 * client chose is refused with `conflict`.
 */
export async function claimSlug(
  { chosen, name, otherwise }: WantedSlug,
  insert: (slug: string) => Promise<boolean>,
): Promise<string> {
  const wanted = chosen ?? slugOfName(name, otherwise);
  const slugs = chosen === undefined ? [wanted, withSuffix(wanted)] : [wanted];
  for (const slug of slugs) if (await insert(slug)) return slug;
  throw slugTaken(wanted);
}

/**
 * Slugs are unique in the organization, so a refusal must reveal that one exists. It names neither its workspace nor its resource, which
 * the caller may not see.
 */
export const slugTaken = (slug: string): AppError =>
  new AppError('conflict', {
    detail: `The slug "${slug}" is taken in this organization. Choose another one, or leave it out to get a free one.`,
  });
