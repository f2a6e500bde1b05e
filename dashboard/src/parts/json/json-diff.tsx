import { json } from '@codemirror/lang-json';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { documentWords } from '../../words/documents';
import { editorSetup } from './editor-setup';
import styles from './json.module.css';

interface JsonDiffProps {
  readonly before: unknown;
  readonly after: unknown;
}

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value, null, 2);

/** The changes of a document: removed lines above added ones, unchanged ones folded. */
export function JsonDiff({ before, after }: JsonDiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const [old, current] = [textOf(before), textOf(after)];
  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({
      parent: host.current,
      doc: current,
      extensions: [
        editorSetup(true, documentWords.json.label),
        json(),
        unifiedMergeView({
          original: old,
          mergeControls: false,
          collapseUnchanged: { margin: 2, minSize: 4 },
          gutter: true,
        }),
      ],
    });
    return () => view.destroy();
  }, [old, current]);
  return <div ref={host} className={styles.editor} />;
}
