import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMutation } from '../../../api/use-mutation';
import { loadStateOf, shownError } from '../../../api/load-state';
import { PEOPLE, type Person } from '../../../api/people';
import {
  endPersonSession,
  endPersonSessions,
  type PersonSession,
  personSessionsQuery,
} from '../../../api/person';
import { browserName } from '../../../parts/format/browser-name';
import { Section } from '../../../parts/shell/section';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { Moment, StatusPill } from '../../../parts/values/values';
import { useMay } from '../../../session/session';
import { accountWords } from '../../../words/account';
import { personWords } from '../../../words/person';
import { useMayActOn } from '../person';

const texts = personWords.sessions;
const { methods, seen, unknownBrowser, current } = accountWords.sessions;

const browserOf = ({ user_agent }: PersonSession): string => browserName(user_agent) || unknownBrowser;

/** The user's sessions; each can be ended. */
export function SessionsSection({ person }: { person: Person }) {
  const mayEnd = useMay()('organisation_users.update');
  const isBelow = useMayActOn(person);
  const queryClient = useQueryClient();
  const query = useQuery(personSessionsQuery(person.id));
  const refresh = () => queryClient.invalidateQueries({ queryKey: [PEOPLE, 'sessions', person.id] });
  const end = useMutation({
    mutationFn: (id: string) => endPersonSession(person.id, id),
    onSuccess: refresh,
  });
  const endAll = useMutation({ mutationFn: () => endPersonSessions(person.id), onSuccess: refresh });
  const sessions = query.data?.data ?? [];
  const isLocked = !mayEnd || !isBelow;
  const error = end.error ?? endAll.error;
  const action = sessions.length > 1 && (
    <Button disabled={isLocked} loading={endAll.isPending} onClick={() => endAll.mutate()}>
      {texts.endAll}
    </Button>
  );
  return (
    <Section title={texts.title} text={texts.text} action={action} error={error && shownError(error)}>
      <Loadable state={loadStateOf(query, 'organisation_users.read')} lines={2}>
        {() => (
          <ul className={section.list}>
            {sessions.length === 0 && <li>{texts.none}</li>}
            {sessions.map((session) => (
              <li key={session.id}>
                <span>
                  <strong>{browserOf(session)}</strong>{' '}
                  <span className={section.text}>
                    {session.ip}, {methods[session.method] ?? session.method}, {seen}{' '}
                    <Moment at={session.last_seen_at} />
                  </span>
                </span>
                {session.is_current ? (
                  <StatusPill tone="accent">{current}</StatusPill>
                ) : (
                  <Button
                    disabled={isLocked}
                    aria-label={`${texts.end}: ${browserOf(session)}`}
                    onClick={() => end.mutate(session.id)}
                  >
                    {texts.end}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loadable>
    </Section>
  );
}
