import type { ScopeGroup } from '../../parts/scopes/scope-picker';
import { adminScopeWords } from '../../words/admin-scopes';
import { apiKeyWords } from '../../words/api-keys';
import { type ScopeGroupWords, scopeWords } from '../../words/scopes';

/** Keys of the organization belong to no workspace, so nothing of theirs calls models or writes logs. */
const ONLY_IN_WORKSPACES: ReadonlySet<string> = new Set(['completions.write', 'logs.write']);

const groupsOf = (
  texts: Readonly<Record<string, ScopeGroupWords>>,
  isOffered: (scope: string) => boolean = () => true,
): readonly ScopeGroup[] =>
  Object.entries(texts)
    .map(([key, { title, scopes }]) => ({
      key,
      title,
      scopes: Object.entries(scopes)
        .filter(([name]) => isOffered(name))
        .map(([name, { text }]) => ({ name, text })),
    }))
    .filter(({ scopes }) => scopes.length > 0);

/** Where a key belongs: in one workspace, or in the organization. */
export type KeyLevel = 'workspace' | 'organization';

const GROUPS: Readonly<Record<KeyLevel, readonly ScopeGroup[]>> = {
  workspace: groupsOf(scopeWords),
  organization: [
    ...groupsOf(adminScopeWords),
    ...groupsOf(scopeWords, (scope) => !ONLY_IN_WORKSPACES.has(scope)),
  ],
};

const namesIn = (groups: readonly ScopeGroup[]): readonly string[] =>
  groups.flatMap(({ scopes }) => scopes.map(({ name }) => name));

/** The permissions that keys of a level can have, and those of `held` that have no text here. */
export function scopeGroups(level: KeyLevel, held: ReadonlySet<string> = new Set()): readonly ScopeGroup[] {
  const known = new Set(namesIn(GROUPS[level]));
  const others = [...held].filter((scope) => !known.has(scope)).map((name) => ({ name, text: '' }));
  return others.length === 0
    ? GROUPS[level]
    : [...GROUPS[level], { key: 'others', title: apiKeyWords.dialog.otherScopes, scopes: others }];
}

const reads = (scope: string): boolean => /\.(list|read|view)$/.test(scope);

type Preset = 'call' | 'read' | 'all';

const PRESETS: Readonly<Record<KeyLevel, readonly (readonly [Preset, (scope: string) => boolean])[]>> = {
  workspace: [
    ['call', (scope) => scope === 'completions.write'],
    ['read', (scope) => /^(logs|analytics)\.(list|view)$/.test(scope)],
    ['all', () => true],
  ],
  organization: [
    ['read', reads],
    ['all', () => true],
  ],
};

/** Beginnings for a choice of permissions, limited to the user's own. */
export const presetsOf = (level: KeyLevel, isAllowed: (scope: string) => boolean) =>
  PRESETS[level].map(([key, isMeant]) => ({
    key,
    scopes: new Set(namesIn(GROUPS[level]).filter((scope) => isAllowed(scope) && isMeant(scope))),
  }));
