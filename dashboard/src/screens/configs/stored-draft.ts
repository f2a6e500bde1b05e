import type { TaggedConfig } from '../../api/configs';

/** An unsaved document and the version that it is based on. */
interface StoredDraft {
  readonly base: TaggedConfig;
  readonly text: string;
}

const keyOf = (slug: string): string => `gatehouse-draft-${slug}`;

/** Drafts belong to one tab and survive its navigation and reloads. Signing out removes them. */
export function readDraft(slug: string): StoredDraft | null {
  const stored = sessionStorage.getItem(keyOf(slug));
  return stored === null ? null : (JSON.parse(stored) as StoredDraft);
}

export function storeDraft(slug: string, draft: StoredDraft | null): void {
  if (draft) sessionStorage.setItem(keyOf(slug), JSON.stringify(draft));
  else sessionStorage.removeItem(keyOf(slug));
}
