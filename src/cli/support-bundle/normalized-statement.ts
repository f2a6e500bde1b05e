/**
 * A statement without the values in it. Literals become `?`, also one that was cut off by the server; comments are dropped. PostgreSQL
 * normalizes no utility statements, which may hold passwords, so only these kinds are shown.
 */
const SHOWN = /^\s*(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|COPY|BEGIN|COMMIT|ROLLBACK|VACUUM|ANALYZE)\b/i;

const PARTS =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|(?:[eEbBxXuU]&?)?'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|"(?:[^"]|"")*(?:"|$)|(?<![\w$])\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;

export function normalizedStatement(text: string): string {
  if (!SHOWN.test(text)) return '(another kind of statement)';
  const masked = text.replace(PARTS, (part) => {
    if (part.startsWith('--') || part.startsWith('/*')) return ' ';
    // A quoted name. A longer one than PostgreSQL allows is none.
    if (part.startsWith('"') && part.endsWith('"') && /^"\w{1,63}"$/.test(part)) return part;
    return '?';
  });
  return masked.replaceAll(/\s+/g, ' ').trim();
}
