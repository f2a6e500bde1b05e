import { useQuery } from '@tanstack/react-query';
import { signInSettingsQuery } from '../../api/identity-providers';
import { CopyButton } from '../../parts/values/identifier';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import styles from './identity-providers.module.css';

const texts = identityProviderWords.dialog;

/** The addresses to enter at the provider. */
export function ProviderAddresses() {
  const { data } = useQuery(signInSettingsQuery);
  const addresses = [
    [texts.redirect, data?.redirect_uri],
    [texts.logout, data?.back_channel_logout_uri],
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
