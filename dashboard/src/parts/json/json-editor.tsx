import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { documentWords } from '../../words/documents';
import { editorSetup } from './editor-setup';
import { markedLines, markLines } from './marked-lines';
import styles from './json.module.css';

const NONE: readonly number[] = [];

interface JsonEditorProps {
  readonly value: string;
  /** Absent: read only. */
  readonly onChange?: (value: string) => void;
  readonly label?: string;
  /** Lines with mistakes, from 1. */
  readonly marked?: readonly number[];
}

/** A JSON document with line numbers and colours. The editor holds the text while typing. */
export function JsonEditor({
  value,
  onChange,
  label = documentWords.json.label,
  marked = NONE,
}: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);
  const isReadOnly = onChange === undefined;
  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        extensions: [
          editorSetup(isReadOnly, label),
          json(),
          markedLines,
          EditorView.updateListener.of(
            ({ docChanged, state }) => docChanged && changed.current?.(state.doc.toString()),
          ),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, [isReadOnly, label]);
  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value, isReadOnly, label]);
  const lines = marked.join(',');
  useEffect(() => {
    const numbers = lines === '' ? [] : lines.split(',').map(Number);
    editor.current?.dispatch({ effects: markLines.of(numbers) });
  }, [lines, isReadOnly, label]);
  return <div ref={host} className={styles.editor} />;
}
