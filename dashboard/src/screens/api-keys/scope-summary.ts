import { apiKeyWords } from '../../words/api-keys';
import { adminScopeWords } from '../../words/admin-scopes';
import { scopeWords } from '../../words/scopes';
import type { KeyLevel } from './scope-groups';

/** Every permission that a key can have, with its texts. */
const KNOWN = Object.values({ ...scopeWords, ...adminScopeWords }).flatMap(({ title, scopes }) =>
  Object.entries(scopes).map(([name, { can }]) => ({ name, can, title })),
);

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A summary of a list of permissions, short enough for a row: "Call models, logs, analytics". */
export function summaryOf(scopes: readonly string[]): string {
  const held = KNOWN.filter(({ name }) => scopes.includes(name));
  const titles = [
    ...new Set(
      held.map(({ name, can, title }) => (name === 'completions.write' ? can : title.toLowerCase())),
    ),
  ];
  const [first, second, third, ...more] = titles;
  const shown = [first, second, third].filter((title) => title !== undefined).join(', ');
  return capitalized(more.length > 0 ? `${shown} +${more.length}` : shown || scopes.slice(0, 2).join(', '));
}

/** The ends of the sentence "This key can …". */
export const abilitiesOf = (scopes: ReadonlySet<string>): readonly string[] =>
  KNOWN.filter(({ name }) => scopes.has(name)).map(({ can }) => can);

const isChange = (scope: string): boolean =>
  /\.(create|update|delete|rotate|duplicate|copy|write)$/.test(scope) && scope !== 'completions.write';

/** The ends of the sentence "It cannot …": the most asked-about abilities. */
export function inabilitiesOf(scopes: ReadonlySet<string>, level: KeyLevel): readonly string[] {
  const { logs, analytics } = scopeWords;
  const missing = [
    ...(scopes.has('completions.write') ? [] : [apiKeyWords.dialog.callModels]),
    ...(scopes.has('logs.view') ? [] : [logs?.scopes['logs.view']?.can ?? '']),
    ...(scopes.has('analytics.view') ? [] : [analytics?.scopes['analytics.view']?.can ?? '']),
    ...([...scopes].some(isChange) ? [] : [apiKeyWords.dialog.changeAnything]),
    ...(level === 'workspace' ? [apiKeyWords.dialog.otherWorkspaces] : []),
  ];
  return missing.filter((text) => text !== '');
}
