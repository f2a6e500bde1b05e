import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The tokens of the theme, so that both themes have one source. */
const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--ground)', fontSize: '12px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
  '.cm-gutters': {
    fontFamily: 'var(--mono)',
    backgroundColor: 'var(--ground)',
    color: 'var(--muted)',
    border: 'none',
  },
  '&.cm-focused .cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--success-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--error-soft) !important' },
  '.cm-collapsedLines': { background: 'var(--surface) !important', color: 'var(--muted)' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: 'none !important' },
  '.cm-markedLine': { backgroundColor: 'var(--error-soft)' },
  '.cm-changedText': { background: 'none !important', fontWeight: 600 },
  // Its own background on that of the line leaves too little contrast.
  '.cm-deletedText': { background: 'none !important', textDecoration: 'line-through' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--success)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--error)' },
]);

/** Common to every editor of the dashboard. Styles have the nonce of the page. */
export function editorSetup(isReadOnly: boolean, label: string): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  return [
    lineNumbers(),
    history(),
    bracketMatching(),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    look,
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
  ];
}
