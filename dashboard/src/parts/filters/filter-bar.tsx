import { ActionIcon, Button, Popover, TextInput, Tooltip } from '@mantine/core';
import { IconCode, IconPlus, IconX } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { words } from '../../words/en';
import { type Filter, type FilterField, filtersText, parseFilters } from './filter';
import styles from './filter-bar.module.css';

/** Its selects are large, and most visits add no filter. */
const NewFilter = lazy(() => import('./new-filter').then((module) => ({ default: module.NewFilter })));

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
        <Suspense fallback={null}>
          <NewFilter
            fields={fields}
            onAdd={(filter) => {
              setOpen(false);
              onAdd(filter);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
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
