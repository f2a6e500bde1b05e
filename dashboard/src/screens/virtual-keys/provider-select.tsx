import { Select } from '@mantine/core';
import type { CatalogProvider } from '../../api/virtual-keys';
import { virtualKeyWords } from '../../words/virtual-keys';
import styles from './virtual-key-dialog.module.css';

const texts = virtualKeyWords.dialog;

interface ProviderSelectProps {
  readonly providers: readonly CatalogProvider[];
  readonly value: string;
  /** The provider of a stored credential cannot change. */
  readonly isFixed: boolean;
  readonly onChange: (id: string) => void;
}

/** One of the providers of the catalog, found by typing its name. */
export function ProviderSelect({ providers, value, isFixed, onChange }: ProviderSelectProps) {
  return (
    <Select
      label={texts.provider}
      placeholder={texts.providerPlaceholder}
      data={providers.map(({ id, name }) => ({ value: id, label: name }))}
      value={value === '' ? null : value}
      disabled={isFixed}
      description={isFixed ? texts.providerFixed : undefined}
      searchable
      nothingFoundMessage={texts.providerNone}
      // The list itself scrolls, as assistive technology expects of a combobox list.
      withScrollArea={false}
      classNames={{ options: styles.options }}
      data-autofocus={!isFixed}
      onChange={(id) => onChange(id ?? '')}
    />
  );
}
