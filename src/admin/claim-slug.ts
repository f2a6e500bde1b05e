import { AppError } from '../common/errors/app-error.js';
import { slugOfName, withSuffix } from '../common/ids/slug-of-name.js';

/** How a new thing gets its slug. */
export interface WantedSlug {
  /** What the client chose; it is taken or not. */
  readonly chosen: string | undefined;
  readonly name: string;
  /** For names without a letter or digit that a slug can have. */
  readonly otherwise: string;
}

/**
 * Inserts a new thing under its slug and answers that. One that we made of the name gets an ending when it is taken; one
 * that the client chose is refused with `conflict`.
 */
export async function claimSlug(
  { chosen, name, otherwise }: WantedSlug,
  insert: (slug: string) => Promise<boolean>,
): Promise<string> {
  const wanted = chosen ?? slugOfName(name, otherwise);
  const slugs = chosen === undefined ? [wanted, withSuffix(wanted)] : [wanted];
  for (const slug of slugs) if (await insert(slug)) return slug;
  throw new AppError('conflict', { detail: `The slug "${wanted}" is taken in this organization.` });
}
