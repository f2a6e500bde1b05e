import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { providersForAddress, signOnAddress } from '../../api/single-sign-on';
import { singleSignOnWords } from '../../words/single-sign-on';
import styles from './sign-in-page.module.css';

const texts = singleSignOnWords;
/** No request is sent while the address is being typed. */
const PAUSE_MS = 300;

interface SignOnChoicesProps {
  readonly email: string;
  readonly returnTo: string | undefined;
  /** The provider's account was refused: another one can be chosen. */
  readonly isAfterRefusal: boolean;
}

/** The identity providers for the domain of an address. The password stays available: the server decides who may use one. */
export function SignOnChoices({ email, returnTo, isAfterRefusal }: SignOnChoicesProps) {
  const [settled] = useDebouncedValue(email.trim(), PAUSE_MS);
  const { data } = useQuery(providersForAddress(settled));
  const found = data?.data ?? [];
  if (found.length === 0) return null;
  const isSame = new Set(found.map(({ name }) => name)).size < found.length;
  return (
    <div className={styles.providers}>
      {found.map(({ id, name, organisation_name, sign_in_url }) => (
        <Button
          key={id}
          component="a"
          href={signOnAddress(sign_in_url, { email: settled, returnTo, selectsAccount: isAfterRefusal })}
          variant="filled"
          size="sm"
          fullWidth
        >
          {texts.continueWith(isSame ? `${name} (${organisation_name})` : name)}
        </Button>
      ))}
      {isAfterRefusal && <p className={styles.or}>{texts.otherAccount}</p>}
      <p className={styles.or}>{texts.or}</p>
    </div>
  );
}
