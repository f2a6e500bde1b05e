/** Browser and system from the header `User-Agent`; empty if it names neither. */
export function browserName(userAgent: string | null): string {
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent ?? '')?.[1]?.replace('Edg', 'Edge');
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(userAgent ?? '')?.[1];
  return [browser, system].filter(Boolean).join(', ');
}
