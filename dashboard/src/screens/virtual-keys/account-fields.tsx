import { PasswordInput, TextInput } from '@mantine/core';
import type { CatalogProvider } from '../../api/virtual-keys';
import { virtualKeyWords } from '../../words/virtual-keys';
import styles from './virtual-key-dialog.module.css';
import { type Form, isNeeded } from './virtual-key-form';

const texts = virtualKeyWords.dialog;

interface AccountFieldsProps {
  readonly form: Form;
  readonly provider: CatalogProvider;
  /** The secret may stay empty: the stored one is kept. */
  readonly isStored: boolean;
  readonly onChange: (form: Form) => void;
}

/** The account settings of the provider: its own fields, its credential, its address. */
export function AccountFields({ form, provider, isStored, onChange }: AccountFieldsProps) {
  return (
    <>
      {provider.fields.length > 0 && (
        <div className={styles.pair}>
          {provider.fields.map((field) => (
            <TextInput
              key={field.name}
              label={field.title}
              placeholder={field.default ?? field.example ?? ''}
              required={isNeeded(field, form)}
              value={form.fields[field.name] ?? ''}
              autoComplete="off"
              spellCheck={false}
              onChange={({ currentTarget }) =>
                onChange({ ...form, fields: { ...form.fields, [field.name]: currentTarget.value } })
              }
            />
          ))}
        </div>
      )}
      {provider.key === 'required' && (
        <PasswordInput
          label={texts.secret}
          required={!isStored}
          description={isStored ? texts.secretKept : undefined}
          value={form.secret}
          autoComplete="off"
          onChange={({ currentTarget }) => onChange({ ...form, secret: currentTarget.value })}
        />
      )}
      {provider.custom_host !== 'none' && (
        <TextInput
          label={texts.host}
          description={provider.custom_host === 'required' ? texts.hostRequired : texts.hostHelp}
          placeholder={texts.hostPlaceholder}
          required={provider.custom_host === 'required'}
          value={form.host}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => onChange({ ...form, host: currentTarget.value })}
        />
      )}
    </>
  );
}
