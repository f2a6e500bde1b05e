import { Button, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconCheck, IconEyeOff, IconX } from '@tabler/icons-react';
import { type SyntheticEvent, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { createApiKey, type NewApiKey } from '../../api/keys';
import { shownError } from '../../api/load-state';
import { money, nanoOfDollars, short } from '../../parts/format/numbers';
import { date } from '../../parts/format/times';
import { SecretOnce } from '../../parts/overlay/secret-once';
import { type ScopeGroup, ScopePicker } from '../../parts/scopes/scope-picker';
import { ErrorCard } from '../../parts/states/states';
import { useZone } from '../../parts/zone';
import { useMay, usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { scopeWords } from '../../words/scopes';
import { dialogWords } from '../../words/dialogs';
import { words } from '../../words/en';
import styles from './create-key-dialog.module.css';
import { abilitiesOf, inabilitiesOf, PRESETS } from './scope-summary';

const texts = apiKeyWords.dialog;
const DAY_MS = 86_400_000;

const GROUPS: readonly ScopeGroup[] = Object.entries(scopeWords).map(([key, { title, scopes }]) => ({
  key,
  title,
  scopes: Object.entries(scopes).map(([name, { text }]) => ({ name, text })),
}));
const ALL_SCOPES = GROUPS.flatMap(({ scopes }) => scopes.map(({ name }) => name));

interface Form {
  readonly name: string;
  readonly kind: 'service' | 'user';
  readonly scopes: ReadonlySet<string>;
  readonly budget: string;
  readonly rate: string;
  readonly expires: string;
}

const EMPTY: Form = { name: '', kind: 'service', scopes: new Set(), budget: '', rate: '', expires: 'never' };

const isAmount = (text: string): boolean => text === '' || Number(text) > 0;
const isWhole = ({ name, scopes, budget, rate }: Form): boolean =>
  name.trim() !== '' && scopes.size > 0 && isAmount(budget) && isAmount(rate);
const expiryOf = ({ expires }: Form, now: number): Date | null =>
  expires === 'never' ? null : new Date(now + Number(expires) * DAY_MS);

function bodyOf(form: Form, workspace: string, now: number): NewApiKey {
  const expires = expiryOf(form, now);
  return {
    name: form.name.trim(),
    workspace_id: workspace,
    scopes: [...form.scopes] as NewApiKey['scopes'],
    ...(form.budget && {
      usage_limits: { credit_limit: Number(form.budget), type: 'cost', periodic_reset: 'monthly' },
    }),
    ...(form.rate && { rate_limits: [{ type: 'requests', unit: 'rpm', value: Number(form.rate) }] }),
    ...(expires && { expires_at: expires.toISOString() }),
  };
}

/** Creates a workspace key. Its permissions are described before it exists, and never exceed its creator's. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const [form, setForm] = useState(EMPTY);
  const [openedAt] = useState(Date.now);
  const creation = useMutation({
    mutationFn: () => createApiKey(form.kind, bodyOf(form, workspace.id, openedAt)),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['api-keys'] }),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (isWhole(form)) creation.mutate();
  };
  if (creation.data)
    return (
      <Dialog onClose={() => undefined} withCloseButton={false} title={texts.created} size={560}>
        <SecretOnce secret={creation.data.key} onDone={onClose} />
      </Dialog>
    );
  return (
    <Dialog
      onClose={onClose}
      isDirty={form !== EMPTY}
      title={texts.title}
      size={920}
      padding={0}
      classNames={{ header: styles.header }}
    >
      <form onSubmit={submit}>
        <p className={styles.intro}>{texts.text(workspace.name)}</p>
        <div className={styles.columns}>
          <div className={styles.fields}>
            <KeyFields form={form} onChange={setForm} />
            {creation.isError && (
              <ErrorCard error={shownError(creation.error)} title={words.errors.actionTitle} />
            )}
          </div>
          <Preview form={form} openedAt={openedAt} />
        </div>
        <footer className={styles.footer}>
          <span className={styles.once}>
            <IconEyeOff size={16} aria-hidden /> {texts.once}
          </span>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!isWhole(form)} loading={creation.isPending}>
            {texts.submit}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function KeyFields({ form, onChange }: { form: Form; onChange: (form: Form) => void }) {
  const { session } = usePlace();
  const may = useMay();
  const set = (part: Partial<Form>): void => onChange({ ...form, ...part });
  const owners = [
    { value: 'service', label: texts.service, disabled: !may('workspace_service_api_keys.create') },
    { value: 'user', label: texts.me(session.user.email), disabled: !may('workspace_user_api_keys.create') },
  ];
  return (
    <>
      <div className={styles.pair}>
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          value={form.name}
          data-autofocus
          maxLength={120}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        <Select
          label={texts.owner}
          data={owners}
          value={form.kind}
          onChange={(kind) => set({ kind: kind === 'user' ? 'user' : 'service' })}
        />
      </div>
      <div>
        <div className={styles.presets}>
          <strong>{texts.permissions}</strong>
          <span>{dialogWords.picker.startFrom}</span>
          {(['call', 'read', 'all'] as const).map((preset) => (
            <Button
              key={preset}
              size="compact-xs"
              variant="light"
              onClick={() =>
                set({ scopes: new Set(ALL_SCOPES.filter((scope) => may(scope) && PRESETS[preset](scope))) })
              }
            >
              {texts.presets[preset]}
            </Button>
          ))}
        </div>
        <ScopePicker
          groups={GROUPS}
          chosen={form.scopes}
          isAllowed={may}
          onChange={(scopes) => set({ scopes })}
        />
      </div>
      <div className={styles.triple}>
        <TextInput
          label={texts.budget}
          inputMode="decimal"
          value={form.budget}
          error={isAmount(form.budget) ? null : texts.number}
          onChange={({ currentTarget }) => set({ budget: currentTarget.value.trim() })}
        />
        <TextInput
          label={texts.rate}
          inputMode="numeric"
          value={form.rate}
          error={isAmount(form.rate) ? null : texts.number}
          onChange={({ currentTarget }) => set({ rate: currentTarget.value.trim() })}
        />
        <Select
          label={texts.expires}
          data={Object.entries(texts.expiries).map(([value, label]) => ({ value, label }))}
          value={form.expires}
          onChange={(expires) => set({ expires: expires ?? 'never' })}
        />
      </div>
    </>
  );
}

/** Longer lists show how many more there are. */
const SHOWN = 10;

function Preview({ form, openedAt }: { form: Form; openedAt: number }) {
  const abilities = abilitiesOf(form.scopes);
  const more = abilities.length - SHOWN;
  return (
    <aside className={styles.preview} aria-live="polite">
      <h3>{texts.can}</h3>
      <ul>
        {abilities.length === 0 && <li>{texts.nothing}</li>}
        {abilities.slice(0, SHOWN).map((ability) => (
          <li key={ability}>
            <IconCheck size={14} aria-hidden /> {ability}
          </li>
        ))}
        {more > 0 && <li>{texts.more(more)}</li>}
      </ul>
      <h3>{texts.cannot}</h3>
      <ul className={styles.cannot}>
        {inabilitiesOf(form.scopes).map((inability) => (
          <li key={inability}>
            <IconX size={14} aria-hidden /> {inability}
          </li>
        ))}
      </ul>
      <Ends form={form} openedAt={openedAt} />
    </aside>
  );
}

function Ends({ form, openedAt }: { form: Form; openedAt: number }) {
  const zone = useZone();
  const expires = expiryOf(form, openedAt);
  const ends = [
    expires && texts.endsOn(date(expires, zone)),
    Number(form.budget) > 0 && texts.endsBudget(money(nanoOfDollars(Number(form.budget)))),
  ].filter(Boolean);
  const rate = Number(form.rate) > 0 ? texts.rateNote(short(Number(form.rate))) : null;
  if (ends.length === 0 && rate === null) return null;
  return (
    <p className={styles.ends}>
      {ends.length > 0 && `${texts.ends} ${ends.join(texts.or)}. `}
      {rate}
    </p>
  );
}
