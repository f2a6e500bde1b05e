import { ActionIcon, Button, Checkbox, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { apiKeyWords } from '../../words/api-keys';
import styles from './key-form.module.css';
import type { KeyForm, OnForm } from './key-form';
import { type BudgetRow, isAmount, NEW_BUDGET, NEW_RATE, type RateRow } from './limit-rows';

const texts = apiKeyWords.dialog.limits;

const choices = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

interface LimitFieldsProps {
  readonly form: KeyForm;
  /** A key that exists can begin its periods anew. */
  readonly isStored: boolean;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: OnForm;
}

/** Budgets and rate limits, any number of each. */
export function LimitFields({ form, isStored, errors, onChange }: LimitFieldsProps) {
  return (
    <>
      <Rows
        title={texts.budgets}
        add={texts.addBudget}
        remove={texts.removeBudget}
        rows={form.budgets}
        blank={NEW_BUDGET}
        error={errors.usage_limits}
        onChange={(budgets) => onChange({ budgets })}
      >
        {(row, set, label) => <Budget row={row} onChange={set} label={label} />}
      </Rows>
      <Rows
        title={texts.rates}
        add={texts.addRate}
        remove={texts.removeRate}
        rows={form.rates}
        blank={NEW_RATE}
        error={errors.rate_limits}
        onChange={(rates) => onChange({ rates })}
      >
        {(row, set, label) => <Rate row={row} onChange={set} label={label} />}
      </Rows>
      {isStored && (form.budgets.length > 0 || form.rates.length > 0) && (
        <Checkbox
          label={texts.reset}
          checked={form.resetsUsage}
          onChange={() => onChange({ resetsUsage: !form.resetsUsage })}
        />
      )}
    </>
  );
}

interface RowsProps<Row> {
  readonly title: string;
  readonly add: string;
  readonly remove: string;
  readonly rows: readonly Row[];
  readonly blank: Row;
  readonly error: string | undefined;
  readonly onChange: (rows: readonly Row[]) => void;
  readonly children: (row: Row, set: (part: Partial<Row>) => void, label: string) => ReactNode;
}

function Rows<Row>({ title, add, remove, rows, blank, error, onChange, children }: RowsProps<Row>) {
  return (
    <fieldset className={styles.rows} aria-label={title}>
      <div className={styles.rowsHead}>
        <strong>{title}</strong>
        <Button
          size="compact-xs"
          variant="light"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={() => onChange([...rows, blank])}
        >
          {add}
        </Button>
      </div>
      {rows.length === 0 && <p className={styles.muted}>{texts.none}</p>}
      {rows.map((row, at) => (
        <div key={at} className={styles.row}>
          {children(
            row,
            (part) => onChange(rows.map((other, index) => (index === at ? { ...other, ...part } : other))),
            rows.length > 1 ? `${title} ${at + 1}` : title,
          )}
          <ActionIcon
            aria-label={rows.length > 1 ? `${remove} ${at + 1}` : remove}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly label: string;
  readonly onChange: (part: Partial<Row>) => void;
}

const number = apiKeyWords.dialog.number;

function Budget({ row, label, onChange }: RowProps<BudgetRow>) {
  return (
    <>
      <TextInput
        aria-label={`${label}: ${texts.amount}`}
        placeholder={texts.amount}
        inputMode="decimal"
        value={row.amount}
        error={isAmount(row.amount) ? null : number}
        onChange={({ currentTarget }) => onChange({ amount: currentTarget.value.trim() })}
      />
      <Select
        aria-label={`${label}: ${texts.measure}`}
        data={choices(texts.budgetTypes)}
        value={row.type}
        allowDeselect={false}
        onChange={(type) => onChange({ type: (type ?? 'cost') as BudgetRow['type'] })}
      />
      <Select
        aria-label={`${label}: ${texts.period}`}
        data={choices(texts.periods)}
        value={row.period}
        allowDeselect={false}
        onChange={(period) => onChange({ period: (period ?? 'monthly') as BudgetRow['period'] })}
      />
      {row.period === 'days' && (
        <TextInput
          aria-label={`${label}: ${texts.days}`}
          placeholder={texts.days}
          inputMode="numeric"
          value={row.days}
          onChange={({ currentTarget }) => onChange({ days: currentTarget.value.trim() })}
        />
      )}
      <TextInput
        aria-label={`${label}: ${texts.alert}`}
        placeholder={texts.alert}
        inputMode="decimal"
        value={row.alert}
        error={isAmount(row.alert) ? null : number}
        onChange={({ currentTarget }) => onChange({ alert: currentTarget.value.trim() })}
      />
    </>
  );
}

function Rate({ row, label, onChange }: RowProps<RateRow>) {
  return (
    <>
      <TextInput
        aria-label={`${label}: ${texts.amount}`}
        placeholder={texts.amount}
        inputMode="numeric"
        value={row.amount}
        error={row.amount === '' || /^\d+$/.test(row.amount) ? null : texts.whole}
        onChange={({ currentTarget }) => onChange({ amount: currentTarget.value.trim() })}
      />
      <Select
        aria-label={`${label}: ${texts.measure}`}
        data={choices(texts.rateTypes)}
        value={row.type}
        allowDeselect={false}
        onChange={(type) => onChange({ type: (type ?? 'requests') as RateRow['type'] })}
      />
      {row.type !== 'concurrency' && (
        <Select
          aria-label={`${label}: ${texts.period}`}
          data={choices(texts.units)}
          value={row.unit}
          allowDeselect={false}
          onChange={(unit) => onChange({ unit: unit ?? 'rpm' })}
        />
      )}
    </>
  );
}
