import { Autocomplete, Button, Select } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { words } from '../../words/en';
import { short } from '../format/numbers';
import type { Filter, FilterField, FilterSuggestion, Operator, Suggest } from './filter';
import styles from './filter-bar.module.css';

/** Selects inside a popover must not close it. */
const INSIDE = { withinPortal: false } as const;

/** The form for another filter: a field, a comparison if there are several, a value. */
export function NewFilter({
  fields,
  suggest,
  onAdd,
}: {
  fields: readonly FilterField[];
  suggest?: Suggest | undefined;
  onAdd: (filter: Filter) => void;
}) {
  const [key, setKey] = useState(fields[0]?.key ?? '');
  const [operator, setOperator] = useState<Operator>('is');
  const [value, setValue] = useState('');
  const field = fields.find((one) => one.key === key);
  const operators = field?.operators ?? [];
  const chosen = operators.includes(operator) ? operator : (operators[0] ?? 'is');
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim()) onAdd({ field: key, operator: chosen, value: value.trim() });
      }}
    >
      <Select
        label={words.filter.field}
        data={fields.map((one) => ({ value: one.key, label: one.label }))}
        value={key}
        searchable
        comboboxProps={INSIDE}
        onChange={(next) => {
          setKey(next ?? key);
          setValue('');
        }}
      />
      {operators.length > 1 && (
        <Select
          label={words.filter.comparison}
          data={operators.map((one) => ({ value: one, label: words.filter.operators[one] }))}
          value={chosen}
          comboboxProps={INSIDE}
          onChange={(next) => setOperator(next ?? chosen)}
        />
      )}
      <FilterValue key={key} field={field} value={value} suggest={suggest} onChange={setValue} />
      <Button type="submit" variant="filled" disabled={!value.trim()}>
        {words.filter.apply}
      </Button>
    </form>
  );
}

interface FilterValueProps {
  readonly field: FilterField | undefined;
  readonly value: string;
  readonly suggest: Suggest | undefined;
  readonly onChange: (value: string) => void;
}

const MANY_OPTIONS = 8;

function FilterValue({ field, value, suggest, onChange }: FilterValueProps) {
  const suggestions = useSuggestions(field?.key, suggest);
  const countOf = new Map(suggestions.map((suggestion) => [suggestion.value, suggestion.count]));
  const renderOption = ({ option }: { option: { value: string; label?: string } }): ReactNode => (
    <OptionText text={option.label ?? option.value} count={countOf.get(option.value)} />
  );
  if (field?.options)
    return (
      <Select
        label={words.filter.value}
        data={field.options.map((option) => ({ ...option }))}
        value={value || null}
        searchable={field.options.length > MANY_OPTIONS}
        renderOption={renderOption}
        comboboxProps={INSIDE}
        onChange={(next) => onChange(next ?? '')}
      />
    );
  return (
    <Autocomplete
      label={words.filter.value}
      description={words.filter.severalValues}
      data={suggestions.map((suggestion) => suggestion.value)}
      value={value}
      renderOption={renderOption}
      comboboxProps={INSIDE}
      onChange={onChange}
    />
  );
}

function OptionText({ text, count }: { text: string; count: number | undefined }) {
  return (
    <span className={styles.option}>
      <span>{text}</span>
      {count !== undefined && <span className={styles.count}>{short(count)}</span>}
    </span>
  );
}

/** The values of the field, most frequent first. Until they are loaded, or if loading fails, any value can be typed. */
function useSuggestions(
  field: string | undefined,
  suggest: Suggest | undefined,
): readonly FilterSuggestion[] {
  const [suggestions, setSuggestions] = useState<readonly FilterSuggestion[]>([]);
  useEffect(() => {
    let isMeant = true;
    if (field !== undefined)
      suggest?.(field).then(
        (found) => isMeant && setSuggestions(found),
        () => undefined,
      );
    return () => {
      isMeant = false;
    };
  }, [field, suggest]);
  return suggestions;
}
