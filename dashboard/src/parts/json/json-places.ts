import { jsonLanguage } from '@codemirror/lang-json';

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

/** `config.targets[1].retry` as steps, without its root. */
const stepsOf = (path: string): readonly string[] =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .slice(1);

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length;

/** The first line where a text is not valid JSON; null if it is valid. */
export function brokenLine(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    const cursor = jsonLanguage.parser.parse(text).cursor();
    do if (cursor.type.isError) return lineAt(text, cursor.from);
    while (cursor.next());
    return lineAt(text, text.length);
  }
}

/** The line of a path, or of its closest existing parent. The first step is the document itself. */
export function lineOf(text: string, path: string): number {
  let node: SyntaxNode | null = jsonLanguage.parser.parse(text).topNode.firstChild;
  let found = node?.from ?? 0;
  for (const step of stepsOf(path)) {
    const next: SyntaxNode | null =
      node && (node.name === 'Array' ? item(node, step) : member(node, step, text));
    if (!next) break;
    found = next.from;
    node = next.name === 'Property' ? next.lastChild : next;
  }
  return lineAt(text, found);
}

const item = (array: SyntaxNode, step: string): SyntaxNode | null =>
  childrenOf(array).filter(({ name }) => !['[', ']', ','].includes(name))[Number(step)] ?? null;

const member = (object: SyntaxNode, step: string, text: string): SyntaxNode | null =>
  childrenOf(object).find((property) => {
    const name = property.getChild('PropertyName');
    return name !== null && text.slice(name.from, name.to) === JSON.stringify(step);
  }) ?? null;

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}
