import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '../..');

/** They hold a choice, a typed name or a proof, which closing may drop. */
const WITHOUT_DRAFT = ['AddLimitDialog', 'ConfirmByName', 'RevokeManyDialog', 'StepUpDialog'];

interface FoundDialog {
  /** The component that renders it. */
  readonly component: string;
  readonly hasForm: boolean;
  readonly hasDirty: boolean;
}

type Element = ts.JsxOpeningElement | ts.JsxSelfClosingElement;

const tagOf = ({ tagName }: Element): string => tagName.getText();

function elementsIn(node: ts.Node): readonly Element[] {
  const found: Element[] = [];
  const walk = (child: ts.Node): void => {
    if (ts.isJsxOpeningElement(child) || ts.isJsxSelfClosingElement(child)) found.push(child);
    ts.forEachChild(child, walk);
  };
  walk(node);
  return found;
}

/** Whether the node renders a form, itself or by a component of the same file. */
function rendersForm(node: ts.Node, components: ReadonlyMap<string, ts.Node>): boolean {
  return elementsIn(node).some((element) => {
    const component = components.get(tagOf(element));
    return tagOf(element) === 'form' || (component !== undefined && rendersForm(component, components));
  });
}

function dialogsOf(path: string): readonly FoundDialog[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TSX,
  );
  const functions = source.statements.filter(ts.isFunctionDeclaration);
  const components = new Map(functions.map((each) => [each.name?.text ?? '', each as ts.Node]));
  return [...components].flatMap(([component, node]) =>
    elementsIn(node)
      .filter((element) => tagOf(element) === 'Dialog')
      .map((element) => ({
        component,
        hasForm: rendersForm(element.parent, components),
        hasDirty: element.attributes.properties.some(
          (attribute) => ts.isJsxAttribute(attribute) && attribute.name.getText() === 'isDirty',
        ),
      })),
  );
}

const dialogs = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.tsx'))
  .filter(
    (path) =>
      readFileSync(join(SOURCES, path), 'utf8').includes("overlay/dialog'") ||
      basename(path) === 'confirm-by-name.tsx',
  )
  .flatMap((path) => dialogsOf(join(SOURCES, path)));
const withForm = dialogs.filter(({ hasForm }) => hasForm);

describe('a dialog with a form', () => {
  it.each(withForm.filter(({ component }) => !WITHOUT_DRAFT.includes(component)))(
    '$component confirms before it discards input',
    ({ hasDirty }) => {
      expect(hasDirty).toBe(true);
    },
  );

  it('is found wherever it is rendered', () => {
    const components = withForm.map(({ component }) => component);
    expect(components).toEqual(
      expect.arrayContaining([...WITHOUT_DRAFT, 'CreateDialog', 'VirtualKeyDialog']),
    );
  });
});
