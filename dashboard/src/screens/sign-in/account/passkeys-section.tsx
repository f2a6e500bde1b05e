import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../../api/use-mutation';
import { ACCOUNT, passkeysQuery, removePasskey } from '../../../api/account';
import { loadStateOf } from '../../../api/load-state';
import { addPasskey, canUsePasskeys } from '../../../api/passkeys';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { Moment } from '../../../parts/values/values';
import { accountWords } from '../../../words/account';
import styles from './account.module.css';
import { Section } from './section';

const texts = accountWords.passkeys;

export function PasskeysSection() {
  const queryClient = useQueryClient();
  const query = useQuery(passkeysQuery);
  const [name, setName] = useState('');
  const refresh = () => queryClient.invalidateQueries({ queryKey: [ACCOUNT] });
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim()),
    onSuccess: async () => {
      setName('');
      await refresh();
    },
  });
  const remove = useMutation({ mutationFn: removePasskey, onSuccess: refresh });
  const passkeys = query.data?.data ?? [];
  return (
    <Section title={texts.title} text={texts.text} error={add.error ?? remove.error}>
      <Loadable state={loadStateOf(query, 'passkeys.list')} lines={2}>
        {() => (
          <ul className={section.list}>
            {passkeys.length === 0 && <li>{texts.none}</li>}
            {passkeys.map((passkey) => (
              <li key={passkey.id}>
                <span>
                  <strong>{passkey.name}</strong>{' '}
                  <span className={section.text}>
                    {texts.created} <Moment at={passkey.created_at} as="date" />
                    {', '}
                    {passkey.last_used_at ? texts.used : texts.never}{' '}
                    {passkey.last_used_at && <Moment at={passkey.last_used_at} />}
                  </span>
                </span>
                <Button
                  aria-label={`${texts.remove}: ${passkey.name}`}
                  onClick={() => remove.mutate(passkey.id)}
                >
                  {texts.remove}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loadable>
      {canUsePasskeys() ? (
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
          }}
        >
          <TextInput
            label={texts.name}
            placeholder={texts.nameExample}
            required
            withAsterisk={false}
            maxLength={120}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <div>
            <Button type="submit" loading={add.isPending}>
              {texts.add}
            </Button>
          </div>
        </form>
      ) : (
        <p className={section.text}>{texts.unsupported}</p>
      )}
    </Section>
  );
}
