import { Checkbox, TextInput, Tooltip } from '@mantine/core';
import { IconLock, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import styles from './scope-picker.module.css';

export interface ScopeGroup {
  readonly key: string;
  readonly title: string;
  readonly scopes: readonly { readonly name: string; readonly text: string }[];
}

interface ScopePickerProps {
  readonly groups: readonly ScopeGroup[];
  readonly chosen: ReadonlySet<string>;
  /** The user's own scopes: no others can be granted. */
  readonly isAllowed: (scope: string) => boolean;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

const matches = (group: ScopeGroup, text: string): ScopeGroup => ({
  ...group,
  scopes: group.scopes.filter((scope) =>
    `${group.title} ${scope.name} ${scope.text}`.toLowerCase().includes(text.toLowerCase()),
  ),
});

/** Checkboxes for permissions, by subject. Those the user lacks are shown locked. */
export function ScopePicker({ groups, chosen, isAllowed, onChange }: ScopePickerProps) {
  const [text, setText] = useState('');
  const count = groups.reduce((total, { scopes }) => total + scopes.length, 0);
  const shown = groups.map((group) => matches(group, text)).filter(({ scopes }) => scopes.length > 0);
  const set = (names: readonly string[], isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const name of names)
      if (isChosen && isAllowed(name)) next.add(name);
      else next.delete(name);
    onChange(next);
  };
  return (
    <div className={styles.picker}>
      <TextInput
        aria-label={dialogWords.picker.filter(count)}
        placeholder={dialogWords.picker.filter(count)}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div className={styles.groups} role="group" aria-label={dialogWords.picker.label} tabIndex={0}>
        {shown.length === 0 && <p className={styles.none}>{dialogWords.picker.nothing}</p>}
        {shown.map((group) => (
          <Group key={group.key} group={group} chosen={chosen} isAllowed={isAllowed} onSet={set} />
        ))}
      </div>
    </div>
  );
}

interface GroupProps {
  readonly group: ScopeGroup;
  readonly chosen: ReadonlySet<string>;
  readonly isAllowed: (scope: string) => boolean;
  readonly onSet: (names: readonly string[], isChosen: boolean) => void;
}

function Group({ group: { title, scopes }, chosen, isAllowed, onSet }: GroupProps) {
  const count = scopes.filter(({ name }) => chosen.has(name)).length;
  const allowed = scopes.filter(({ name }) => isAllowed(name)).map(({ name }) => name);
  return (
    <section className={styles.group}>
      <Checkbox
        checked={count > 0 && count === scopes.length}
        indeterminate={count > 0 && count < scopes.length}
        disabled={allowed.length === 0}
        onChange={() => onSet(allowed, count < allowed.length)}
        label={
          <>
            <strong>{title}</strong>{' '}
            <span className={styles.none}>{dialogWords.picker.count(count, scopes.length)}</span>
          </>
        }
      />
      {scopes.map(({ name, text }) => (
        <div key={name} className={styles.scope}>
          <Checkbox
            checked={chosen.has(name)}
            disabled={!isAllowed(name)}
            onChange={() => onSet([name], !chosen.has(name))}
            label={<code>{name}</code>}
            aria-description={text}
          />
          <span className={styles.none}>{text}</span>
          {!isAllowed(name) && (
            <Tooltip label={words.parts.needsScope(name)}>
              <span className={styles.locked}>
                <IconLock size={14} aria-hidden /> {dialogWords.picker.locked}
              </span>
            </Tooltip>
          )}
        </div>
      ))}
    </section>
  );
}
