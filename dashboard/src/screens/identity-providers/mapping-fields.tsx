import { ActionIcon, Button, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { usePlace } from '../../session/session';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import styles from './identity-providers.module.css';
import { type Form, type MappingForm, newMapping } from './provider-form';

const texts = identityProviderWords.dialog;

const roles = (...names: readonly string[]) =>
  names.map((value) => ({ value, label: words.roles[value] ?? value }));
const ORGANIZATION_ROLES = [{ value: '', label: texts.none }, ...roles('member', 'admin')];
const WORKSPACE_ROLES = roles('member', 'manager', 'admin');

interface MappingFieldsProps {
  readonly form: Form;
  readonly onChange: (form: Form) => void;
}

/** The roles given by groups of the directory. */
export function MappingFields({ form, onChange }: MappingFieldsProps) {
  const { mappings } = form;
  const set = (next: readonly MappingForm[]): void => onChange({ ...form, mappings: next });
  return (
    <fieldset className={styles.groups}>
      <legend>{texts.groups}</legend>
      <p className={styles.text}>{texts.groupsHelp}</p>
      <TextInput
        label={texts.claim}
        description={texts.claimHelp}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        spellCheck={false}
        value={form.groupsClaim}
        onChange={({ currentTarget }) => onChange({ ...form, groupsClaim: currentTarget.value })}
      />
      {mappings.map((mapping) => (
        <MappingRow
          key={mapping.key}
          mapping={mapping}
          onChange={(next) => set(mappings.map((one) => (one.key === next.key ? next : one)))}
          onRemove={() => set(mappings.filter(({ key }) => key !== mapping.key))}
        />
      ))}
      <div>
        <Button
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => set([...mappings, newMapping(mappings)])}
        >
          {texts.addMapping}
        </Button>
      </div>
    </fieldset>
  );
}

interface MappingRowProps {
  readonly mapping: MappingForm;
  readonly onChange: (mapping: MappingForm) => void;
  readonly onRemove: () => void;
}

function MappingRow({ mapping, onChange, onRemove }: MappingRowProps) {
  const choice = (
    field: 'organizationRole' | 'workspace' | 'workspaceRole',
    label: string,
    data: Choice[],
  ) => (
    <Select
      label={label}
      data={data}
      value={mapping[field]}
      withScrollArea={false}
      classNames={{ options: styles.options }}
      onChange={(value) => onChange({ ...mapping, [field]: value ?? '' })}
    />
  );
  return (
    <div className={styles.mapping}>
      <TextInput
        label={texts.group}
        spellCheck={false}
        maxLength={255}
        value={mapping.group}
        onChange={({ currentTarget }) => onChange({ ...mapping, group: currentTarget.value })}
      />
      {choice('organizationRole', texts.organizationRole, ORGANIZATION_ROLES)}
      {choice('workspace', texts.workspace, useWorkspaces(mapping.workspace))}
      {mapping.workspace !== '' && choice('workspaceRole', texts.workspaceRole, WORKSPACE_ROLES)}
      <ActionIcon
        className={styles.removal}
        aria-label={texts.removeMapping(mapping.group || words.parts.none)}
        onClick={onRemove}
      >
        <IconX size={16} />
      </ActionIcon>
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** By slug. Workspaces in a mapping stay selectable, even by id and after they are removed. */
function useWorkspaces(chosen: string): Choice[] {
  const { session } = usePlace();
  const known = session.workspaces.map(({ id, slug, name }) => ({
    value: id === chosen ? id : slug,
    label: name,
  }));
  const isKnown = chosen === '' || known.some(({ value }) => value === chosen);
  return [{ value: '', label: texts.none }, ...known, ...(isKnown ? [] : [{ value: chosen, label: chosen }])];
}
