import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { words } from '../../words/en';
import { type Filter, type FilterField, filtersText, parseFilters } from './filter';
import styles from './filter-bar.module.css';

interface FilterTextProps {
  readonly fields: readonly FilterField[];
  readonly filters: readonly Filter[];
  readonly onChange: (filters: readonly Filter[]) => void;
}

/** The filters as one line of text. */
export function FilterText({ fields, filters, onChange }: FilterTextProps) {
  const [text, setText] = useState(filtersText(filters));
  const parsed = parseFilters(text, fields);
  const problem = 'problem' in parsed ? problemText(parsed.problem, parsed.text, fields) : null;
  return (
    <form
      className={styles.text}
      onSubmit={(event) => {
        event.preventDefault();
        if ('filters' in parsed) onChange(parsed.filters);
      }}
    >
      <TextInput
        aria-label={words.filter.text}
        placeholder={words.filter.textHelp}
        value={text}
        error={problem}
        data-autofocus
        spellCheck={false}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}

function problemText(
  problem: 'unreadable' | 'unknownField',
  text: string,
  fields: readonly FilterField[],
): string {
  if (problem === 'unreadable') return words.filter.unreadable(text);
  return words.filter.unknownField(text, fields.map(({ key }) => key).join(', '));
}
