import { Select, TextInput } from '@mantine/core';
import { apiKeyWords } from '../../words/api-keys';
import { virtualKeyWords } from '../../words/virtual-keys';
import { words } from '../../words/en';
import styles from './virtual-key-dialog.module.css';
import { type Form, isAmount, type Period } from './virtual-key-form';

const texts = virtualKeyWords.dialog;

interface LimitFieldsProps {
  readonly form: Form;
  /** False for limits that three fields cannot represent. */
  readonly isEditable: boolean;
  readonly onChange: (form: Form) => void;
}

export function LimitFields({ form, isEditable, onChange }: LimitFieldsProps) {
  if (!isEditable) return <p className={styles.intro}>{texts.otherLimits}</p>;
  return (
    <div className={styles.triple}>
      <TextInput
        label={texts.budget}
        placeholder={words.parts.noLimit}
        inputMode="decimal"
        value={form.budget}
        error={isAmount(form.budget) ? null : apiKeyWords.dialog.number}
        onChange={({ currentTarget }) => onChange({ ...form, budget: currentTarget.value.trim() })}
      />
      <Select
        label={texts.period}
        data={Object.entries(texts.periods).map(([value, label]) => ({ value, label }))}
        value={form.period}
        onChange={(period) => onChange({ ...form, period: (period ?? 'monthly') as Period })}
      />
      <TextInput
        label={texts.rate}
        placeholder={words.parts.noLimit}
        inputMode="numeric"
        value={form.rate}
        error={isAmount(form.rate) ? null : apiKeyWords.dialog.number}
        onChange={({ currentTarget }) => onChange({ ...form, rate: currentTarget.value.trim() })}
      />
    </div>
  );
}
