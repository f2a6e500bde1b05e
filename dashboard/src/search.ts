/** The query of a URL: readable names and texts, without JSON. */
export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));

/** Omits undefined and empty values, so that equal states have equal URLs. */
export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  const text = new URLSearchParams(entries).toString();
  return text === '' ? '' : `?${text}`;
}

/** A schema for search parameters that are all texts: keeps the given names, drops all others. */
export function texts<Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): { [name in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
    ) as { [name in Name]?: string };
}
