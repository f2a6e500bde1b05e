import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  ACCOUNT,
  endOtherSessions,
  endSession,
  type OwnSession,
  ownSessionsQuery,
} from '../../../api/account';
import { useMutation } from '../../../api/use-mutation';
import { loadStateOf } from '../../../api/load-state';
import { browserName } from '../../../parts/format/browser-name';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { Moment, StatusPill } from '../../../parts/values/values';
import { accountWords } from '../../../words/account';
import { Section } from './section';

const texts = accountWords.sessions;

const browserOf = ({ user_agent }: OwnSession): string => browserName(user_agent) || texts.unknownBrowser;

export function SessionsSection() {
  const queryClient = useQueryClient();
  const query = useQuery(ownSessionsQuery);
  const refresh = () => queryClient.invalidateQueries({ queryKey: [ACCOUNT] });
  const end = useMutation({ mutationFn: endSession, onSuccess: refresh });
  const endOthers = useMutation({ mutationFn: endOtherSessions, onSuccess: refresh });
  const sessions = query.data?.data ?? [];
  const action = sessions.length > 1 && (
    <Button loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
      {texts.endOthers}
    </Button>
  );
  return (
    <Section title={texts.title} text={texts.text} action={action} error={end.error ?? endOthers.error}>
      <Loadable state={loadStateOf(query, 'sessions.list')} lines={2}>
        {() => (
          <ul className={section.list}>
            {sessions.map((session) => (
              <li key={session.id}>
                <span>
                  <strong>{browserOf(session)}</strong>{' '}
                  <span className={section.text}>
                    {session.ip}, {texts.methods[session.method] ?? session.method}, {texts.seen}{' '}
                    <Moment at={session.last_seen_at} />
                  </span>
                </span>
                {session.is_current ? (
                  <StatusPill tone="accent">{texts.current}</StatusPill>
                ) : (
                  <Button
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
