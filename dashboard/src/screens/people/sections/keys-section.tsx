import { Button } from '@mantine/core';
import { useList } from '../../../api/lists';
import type { Person } from '../../../api/people';
import { personKeysQuery } from '../../../api/person';
import { Section } from '../../../parts/shell/section';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { Moment, StatusPill } from '../../../parts/values/values';
import { apiKeyWords } from '../../../words/api-keys';
import { words } from '../../../words/en';
import { personWords } from '../../../words/person';

const texts = personWords.keys;

/** The API keys that end when the user leaves. */
export function KeysSection({ person }: { person: Person }) {
  const {
    rows: keys,
    total,
    state,
    onEnd,
  } = useList(personKeysQuery(person.id), 'workspace_user_api_keys.list');
  return (
    <Section title={texts.title} text={texts.text}>
      <Loadable state={state} lines={2}>
        {() => (
          <ul className={section.list}>
            {keys.length === 0 && <li>{texts.none}</li>}
            {keys.map((key) => (
              <li key={key.id}>
                <span>
                  <strong>{key.name}</strong>{' '}
                  <span className={section.text}>
                    <code>{key.key}</code>
                    {', '}
                    {key.last_used_at ? texts.used : texts.unused}{' '}
                    {key.last_used_at && <Moment at={key.last_used_at} />}
                  </span>
                </span>
                <StatusPill tone={key.status === 'active' ? 'success' : 'warning'}>
                  {apiKeyWords.status[key.status] ?? key.status}
                </StatusPill>
              </li>
            ))}
          </ul>
        )}
      </Loadable>
      {total > keys.length && (
        <Button disabled={!onEnd} onClick={onEnd}>
          {words.parts.showMore(keys.length, total)}
        </Button>
      )}
    </Section>
  );
}
