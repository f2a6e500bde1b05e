import { ActionIcon, Button, Popover, Tooltip } from '@mantine/core';
import { IconCode, IconPlus, IconX } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { words } from '../../words/en';
import { type Filter, type FilterField, filtersText, type Suggest } from './filter';
import styles from './filter-bar.module.css';

/** Its selects are large, and most visits add no filter. */
const NewFilter = lazy(() => import('./new-filter').then((module) => ({ default: module.NewFilter })));

const FilterText = lazy(() => import('./filter-text').then((module) => ({ default: module.FilterText })));

interface FilterBarProps {
  readonly fields: readonly FilterField[];
  readonly filters: readonly Filter[];
  readonly onChange: (filters: readonly Filter[]) => void;
  readonly suggest?: Suggest | undefined;
  /** Actions on the right, such as choosing columns. */
  readonly children?: ReactNode;
}

/** One set of filters, as chips or as text. */
export function FilterBar({ fields, filters, suggest, onChange, children }: FilterBarProps) {
  const [isText, setText] = useState(false);
  return (
    <div className={styles.bar}>
      {isText ? (
        <Suspense fallback={<span className={styles.text} />}>
          <FilterText key={filtersText(filters)} {...{ fields, filters, onChange }} />
        </Suspense>
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
            <AddFilter fields={fields} suggest={suggest} onAdd={(filter) => onChange([...filters, filter])} />
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

interface AddFilterProps extends Pick<FilterBarProps, 'fields' | 'suggest'> {
  readonly onAdd: (filter: Filter) => void;
}

function AddFilter({ fields, suggest, onAdd }: AddFilterProps) {
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
            suggest={suggest}
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
