import { Button, Checkbox, Select, TextInput, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { configsQuery } from '../../api/configs';
import { useWholeList } from '../../api/lists';
import { date } from '../../parts/format/times';
import { ScopePicker } from '../../parts/scopes/scope-picker';
import { useZone } from '../../parts/zone';
import { useMay, usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { dialogWords } from '../../words/dialogs';
import type { KeyForm, OnForm } from './key-form';
import styles from './key-form.module.css';
import { LimitFields } from './limit-fields';
import { type KeyLevel, presetsOf, scopeGroups } from './scope-groups';

const texts = apiKeyWords.dialog;

/** The key that a form changes; null for a new one. */
export interface StoredKey {
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

export interface KeyFieldsProps {
  readonly form: KeyForm;
  readonly level: KeyLevel;
  readonly stored: StoredKey | null;
  /** What the server refused, by the field of the API. */
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: OnForm;
}

/** The fields of a key, for its creation and its change. Keys of the organization call no models, so they have no limits. */
export function KeyFields(props: KeyFieldsProps) {
  const { form, level, stored, errors, onChange } = props;
  return (
    <>
      <div className={styles.pair}>
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          value={form.name}
          error={errors.name}
          data-autofocus
          maxLength={120}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
        {level === 'workspace' && stored === null ? (
          <OwnerSelect owner={form.owner} onChange={onChange} />
        ) : (
          <ExpirySelect {...props} />
        )}
      </div>
      <Permissions {...props} />
      {level === 'workspace' && (
        <LimitFields form={form} isStored={stored !== null} errors={errors} onChange={onChange} />
      )}
      {level === 'workspace' && stored === null && <ExpirySelect {...props} />}
      <TextInput
        label={texts.description}
        value={form.description}
        error={errors.description}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
      {level === 'workspace' && <RequestFields form={form} errors={errors} onChange={onChange} />}
    </>
  );
}

function OwnerSelect({ owner, onChange }: { owner: KeyForm['owner']; onChange: OnForm }) {
  const { session } = usePlace();
  const may = useMay();
  const owners = [
    { value: 'service', label: texts.service, disabled: !may('workspace_service_api_keys.create') },
    { value: 'user', label: texts.me(session.user.email), disabled: !may('workspace_user_api_keys.create') },
  ];
  return (
    <Select
      label={texts.owner}
      data={owners}
      value={owner}
      allowDeselect={false}
      onChange={(chosen) => onChange({ owner: chosen === 'user' ? 'user' : 'service' })}
    />
  );
}

function ExpirySelect({ form, stored, errors, onChange }: KeyFieldsProps) {
  const zone = useZone();
  const at = stored?.expires_at ?? null;
  const kept = stored && {
    value: 'kept',
    label: at === null ? texts.expiries.never : texts.endsOn(date(new Date(at), zone)),
  };
  const others = Object.entries(texts.expiries)
    .filter(([value]) => !(value === 'never' && kept && at === null))
    .map(([value, label]) => ({ value, label }));
  return (
    <Select
      label={texts.expires}
      data={kept ? [{ value: kept.value, label: kept.label ?? '' }, ...others] : others}
      value={form.expires}
      error={errors.expires_at}
      allowDeselect={false}
      onChange={(expires) => onChange({ expires: expires ?? 'never' })}
    />
  );
}

/** Permissions that the user lacks are locked, except those that the key has already. */
function Permissions({ form, level, stored, errors, onChange }: KeyFieldsProps): ReactNode {
  const may = useMay();
  const held = new Set(stored?.scopes);
  const isAllowed = (scope: string): boolean => may(scope) || held.has(scope);
  return (
    <div>
      <div className={styles.presets}>
        <strong>{texts.permissions}</strong>
        <span>{dialogWords.picker.startFrom}</span>
        {presetsOf(level, isAllowed).map(({ key, scopes }) => (
          <Button key={key} size="compact-xs" variant="light" onClick={() => onChange({ scopes })}>
            {texts.presets[key]}
          </Button>
        ))}
      </div>
      <ScopePicker
        groups={scopeGroups(level, held)}
        chosen={form.scopes}
        isAllowed={isAllowed}
        onChange={(scopes) => onChange({ scopes })}
      />
      {errors.scopes && (
        <p className={styles.error} role="alert">
          {errors.scopes}
        </p>
      )}
    </div>
  );
}

type RequestFieldsProps = Pick<KeyFieldsProps, 'form' | 'errors' | 'onChange'>;

/** What the key sets for its requests, and who hears of its budgets. */
function RequestFields({ form, errors, onChange }: RequestFieldsProps) {
  return (
    <>
      <div className={styles.pair}>
        <ConfigSelect form={form} errors={errors} onChange={onChange} />
        <TextInput
          label={texts.alertEmails}
          description={texts.alertEmailsHelp}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={form.alertEmails}
          error={errors.alert_emails}
          onChange={({ currentTarget }) => onChange({ alertEmails: currentTarget.value })}
        />
      </div>
      <Checkbox
        label={texts.allowsConfigOverride}
        checked={form.allowsConfigOverride}
        onChange={() => onChange({ allowsConfigOverride: !form.allowsConfigOverride })}
      />
      <Textarea
        label={texts.metadata}
        description={texts.metadataHelp}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        placeholder={texts.metadataPlaceholder}
        autosize
        minRows={1}
        maxRows={6}
        value={form.metadata}
        onChange={({ currentTarget }) => onChange({ metadata: currentTarget.value })}
      />
    </>
  );
}

function ConfigSelect({ form, errors, onChange }: RequestFieldsProps) {
  const { workspace } = usePlace();
  const { rows, state } = useWholeList(configsQuery(workspace.slug), 'configs.list');
  if (state.phase === 'forbidden')
    return (
      <TextInput
        label={texts.config}
        description={texts.configById}
        value={form.configId}
        error={errors.defaults}
        onChange={({ currentTarget }) => onChange({ configId: currentTarget.value })}
      />
    );
  const isListed = rows.some(({ id }) => id === form.configId);
  const kept = form.configId !== '' && !isListed ? [{ value: form.configId, label: form.configId }] : [];
  return (
    <Select
      label={texts.config}
      placeholder={texts.noConfig}
      searchable
      clearable
      data={[...kept, ...rows.map(({ id, name }) => ({ value: id, label: name }))]}
      value={form.configId || null}
      error={errors.defaults}
      onChange={(configId) => onChange({ configId: configId ?? '' })}
    />
  );
}
