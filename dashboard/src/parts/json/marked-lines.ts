import { type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

const mark = Decoration.line({ class: 'cm-markedLine' });

/** Lines to mark, from 1. */
export const markLines = StateEffect.define<readonly number[]>();

/** Marks lines as wrong. Typing moves the marks with their lines. */
export const markedLines: Extension = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, state }) {
    const lines = effects.find((effect) => effect.is(markLines))?.value;
    if (!lines) return marks.map(changes);
    const builder = new RangeSetBuilder<Decoration>();
    for (const line of [...new Set(lines)].sort((one, other) => one - other))
      if (line <= state.doc.lines) builder.add(state.doc.line(line).from, state.doc.line(line).from, mark);
    return builder.finish();
  },
  provide: (field) => EditorView.decorations.from(field),
});
