import { PasswordInput, TextInput } from '@mantine/core';
import type { IdentityProvider } from '../../api/identity-providers';
import { identityProviderWords } from '../../words/identity-providers';
import styles from './identity-providers.module.css';
import { type Form, isOtherClient, needsSecret } from './provider-form';

const texts = identityProviderWords.dialog;
const LAST_HELP = ['label', 'input', 'description', 'error'] as const;

type TextField = 'name' | 'issuer' | 'clientId' | 'scopes' | 'domains';

interface ConnectionFieldsProps {
  readonly form: Form;
  readonly provider: IdentityProvider | null;
  readonly onChange: (form: Form) => void;
}

/** The provider's connection settings, and its email domains. */
export function ConnectionFields({ form, provider, onChange }: ConnectionFieldsProps) {
  const text = (
    field: TextField,
    label: string,
    more: { description?: string; placeholder?: string } = {},
  ) => (
    <TextInput
      label={label}
      spellCheck={false}
      autoComplete="off"
      inputWrapperOrder={[...LAST_HELP]}
      value={form[field]}
      onChange={({ currentTarget }) => onChange({ ...form, [field]: currentTarget.value })}
      {...more}
    />
  );
  return (
    <>
      <div className={styles.pair}>
        {text('name', texts.name, { description: texts.nameHelp })}
        {text('issuer', texts.issuer, {
          description: texts.issuerHelp,
          placeholder: 'https://login.example.com',
        })}
      </div>
      <div className={styles.pair}>
        {text('clientId', texts.clientId)}
        <PasswordInput
          label={texts.secret}
          autoComplete="new-password"
          inputWrapperOrder={[...LAST_HELP]}
          description={secretHelp(form, provider)}
          value={form.secret}
          onChange={({ currentTarget }) => onChange({ ...form, secret: currentTarget.value.trim() })}
        />
      </div>
      {provider && isOtherClient(form, provider) && <p className={styles.warning}>{texts.relink}</p>}
      {text('domains', texts.domains, { description: texts.domainsHelp, placeholder: 'example.com' })}
      {text('scopes', texts.scopes, { description: texts.scopesHelp })}
    </>
  );
}

function secretHelp(form: Form, provider: IdentityProvider | null): string {
  if (provider === null) return texts.secretHelp;
  return needsSecret(form, provider) ? texts.secretAgain : texts.secretKept;
}
