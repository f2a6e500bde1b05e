import { CopyButton } from '../../parts/values/identifier';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import styles from './identity-providers.module.css';

const texts = identityProviderWords.dialog;

interface ProviderAddressesProps {
  /** Of the saved provider, or of the id that is reserved for a new one; undefined while it is loaded. */
  readonly of: { readonly redirect_uri: string; readonly back_channel_logout_uri: string } | undefined;
}

/** The addresses to enter at the provider. */
export function ProviderAddresses({ of }: ProviderAddressesProps) {
  const addresses = [
    [texts.redirect, of?.redirect_uri],
    [texts.logout, of?.back_channel_logout_uri],
  ] as const;
  return (
    <div className={styles.addresses}>
      <p className={styles.text}>{texts.text}</p>
      <dl>
        {addresses.map(([title, address]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              <code>{address ?? words.parts.none}</code>
              {address && <CopyButton value={address} label={`${words.parts.copy}: ${title}`} />}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
