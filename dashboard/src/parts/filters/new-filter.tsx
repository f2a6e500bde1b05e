import { Button, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { words } from '../../words/en';
import type { Filter, FilterField, Operator } from './filter';
import styles from './filter-bar.module.css';

/** Selects inside of a popover must not close it. */
const INSIDE = { withinPortal: false } as const;

/** The form of one more filter: a field, a comparison where there are several, a value. */
export function NewFilter({
  fields,
  onAdd,
}: {
  fields: readonly FilterField[];
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
      <FilterValue field={field} value={value} onChange={setValue} />
      <Button type="submit" variant="filled" disabled={!value.trim()}>
        {words.filter.apply}
      </Button>
    </form>
  );
}

interface FilterValueProps {
  readonly field: FilterField | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterValue({ field, value, onChange }: FilterValueProps) {
  if (field?.options)
    return (
      <Select
        label={words.filter.value}
        data={field.options.map((option) => ({ ...option }))}
        value={value || null}
        searchable={field.options.length > 8}
        comboboxProps={INSIDE}
        onChange={(next) => onChange(next ?? '')}
      />
    );
  return (
    <TextInput
      label={words.filter.value}
      description={words.filter.severalValues}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
