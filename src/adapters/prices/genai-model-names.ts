import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';

/**
 * The names by which clients request the model of an entry in the price data. An entry describes a family by rules. Names that the rules
 * spell out are listed, and the entry's own id if the rules accept it. A rule on a part of a name (`contains`) also accepts names that no
 * provider has, so it confirms none; the beginning of a name (`ft:gpt-4o-`) is not a name either. If a version is spelled with a dot and
 * with a dash (`gpt-5.1`, `gpt-5-1`), the one with the dot is the provider's.
 */
export function namesOf({ id, match }: ModelInfo): readonly string[] {
  const names = new Set(spelledOut(match).filter(isWhole));
  if (isWhole(id) && accepts(match, id)) names.add(id);
  const dashed = new Set(
    [...names].filter((name) => name.includes('.')).map((name) => name.replaceAll('.', '-')),
  );
  return [...names].filter((name) => !dashed.has(name));
}

const isWhole = (name: string): boolean => !name.endsWith('-') && !name.startsWith('ft:');

function spelledOut(match: MatchLogic): readonly string[] {
  if ('equals' in match) return [match.equals];
  return 'or' in match ? match.or.flatMap(spelledOut) : [];
}

function accepts(match: MatchLogic, name: string): boolean {
  if ('equals' in match) return match.equals === name;
  if ('starts_with' in match) return name.startsWith(match.starts_with);
  if ('or' in match) return match.or.some((rule) => accepts(rule, name));
  if ('and' in match) return match.and.every((rule) => accepts(rule, name) || isPart(rule, name));
  return 'regex' in match && new RegExp(match.regex).test(name);
}

/** Within a conjunction, another rule confirms the name. */
function isPart(match: MatchLogic, name: string): boolean {
  if ('contains' in match) return name.includes(match.contains);
  return 'ends_with' in match && name.endsWith(match.ends_with);
}
