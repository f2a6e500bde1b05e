import { Button, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { apiKeysQuery } from '../../api/keys';
import { useList } from '../../api/lists';
import { Dialog } from '../../parts/overlay/dialog';
import { usePlace } from '../../session/session';
import { words } from '../../words/en';
import { limitWords } from '../../words/limits';
import styles from './limits-page.module.css';

const texts = limitWords.addDialog;
const TYPING_MS = 200;

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface AddLimitDialogProps {
  readonly onKey: (id: string) => void;
  readonly onClose: () => void;
}

/** Chooses the API key that gets a limit, among any number of keys. */
export function AddLimitDialog({ onKey, onClose }: AddLimitDialogProps) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<Choice | null>(null);
  // A choice writes its label into the field, which is no search.
  const [name] = useDebouncedValue(text === chosen?.label ? '' : text.trim(), TYPING_MS);
  const { rows } = useList(
    apiKeysQuery({ workspace_id: workspace.slug, ...(name !== '' && { name }) }),
    'workspace_service_api_keys.list',
  );
  const found = rows.map((key): Choice => ({ value: key.id, label: `${key.name} ${key.key}` }));
  const isFound = found.some(({ value }) => value === chosen?.value);
  const choices = chosen && !isFound ? [chosen, ...found] : found;
  return (
    <Dialog onClose={onClose} title={texts.title}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen) onKey(chosen.value);
        }}
      >
        <p className={styles.text}>{texts.text}</p>
        <Select
          label={texts.key}
          placeholder={texts.placeholder}
          data-autofocus
          searchable
          // The server has filtered by name.
          filter={({ options }) => options}
          onSearchChange={setText}
          nothingFoundMessage={texts.nothing}
          data={choices}
          value={chosen?.value ?? null}
          onChange={(_, option) => setChosen(option ? { value: option.value, label: option.label } : null)}
        />
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={chosen === null}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
