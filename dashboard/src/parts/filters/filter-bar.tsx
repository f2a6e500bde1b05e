import { ActionIcon, Button, Popover, Select, TextInput, Tooltip } from '@mantine/core';
import { IconCode, IconPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { words } from '../../words/en';
import { type Filter, type FilterField, filtersText, type Operator, parseFilters } from './filter';
import styles from './filter-bar.module.css';

interface FilterBarProps {
  readonly fields: readonly FilterField[];
  readonly filters: readonly Filter[];
  readonly onChange: (filters: readonly Filter[]) => void;
  /** Actions at the right, such as the choice of columns. */
  readonly children?: ReactNode;
}

/** One set of filters, as chips or as text. */
export function FilterBar({ fields, filters, onChange, children }: FilterBarProps) {
  const [isText, setText] = useState(false);
  return (
    <div className={styles.bar}>
      {isText ? (
        <FilterText key={filtersText(filters)} {...{ fields, filters, onChange }} />
      ) : (
        <ul className={styles.chips} aria-label={words.filter.text}>
          {filters.map((filter, at) => (
            <FilterChip
              key={`${filter.field} ${at}`}
              filter={filter}
              field={fields.find(({ key }) => key === filter.field)}
              onRemove={() => onChange(filters.filter((other) => other !== filter))}
            />
          ))}
          <li>
            <AddFilter fields={fields} onAdd={(filter) => onChange([...filters, filter])} />
          </li>
        </ul>
      )}
      <div className={styles.actions}>
        <Button
          variant="subtle"
          color="gray"
          className={styles.edit}
          aria-pressed={isText}
          leftSection={<IconCode size={16} aria-hidden />}
          onClick={() => setText(!isText)}
        >
          {words.filter.edit}
        </Button>
        {children}
      </div>
    </div>
  );
}

interface FilterChipProps {
  readonly filter: Filter;
  readonly field: FilterField | undefined;
  readonly onRemove: () => void;
}

function FilterChip({ filter, field, onRemove }: FilterChipProps) {
  const label = field?.label ?? filter.field;
  const value = field?.options?.find((option) => option.value === filter.value)?.label ?? filter.value;
  return (
    <li className={styles.chip}>
      <span className={styles.field}>{label}</span>
      <span>{words.filter.operators[filter.operator]}</span>
      <span className={styles.value}>{value}</span>
      <Tooltip label={words.filter.remove(label)}>
        <ActionIcon aria-label={words.filter.remove(label)} onClick={onRemove} radius={0}>
          <IconX size={14} />
        </ActionIcon>
      </Tooltip>
    </li>
  );
}

function AddFilter({ fields, onAdd }: { fields: readonly FilterField[]; onAdd: (filter: Filter) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconPlus size={16} aria-hidden />}
          data-filter-add
          onClick={() => setOpen(!isOpen)}
        >
          {words.filter.add}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <NewFilter
          fields={fields}
          onAdd={(filter) => {
            setOpen(false);
            onAdd(filter);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Selects inside of a popover must not close it. */
const INSIDE = { withinPortal: false } as const;

function NewFilter({ fields, onAdd }: { fields: readonly FilterField[]; onAdd: (filter: Filter) => void }) {
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

function FilterText({ fields, filters, onChange }: FilterBarProps) {
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
