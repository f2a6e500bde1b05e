/** Browser and system, as far as the header `User-Agent` names them; empty where it names neither. */
export function browserName(userAgent: string | null): string {
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent ?? '')?.[1]?.replace('Edg', 'Edge');
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(userAgent ?? '')?.[1];
  return [browser, system].filter(Boolean).join(', ');
}
