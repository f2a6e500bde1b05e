import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/client';
import { loadStateOf } from '../../api/load-state';
import type { Person } from '../../api/people';
import { personQuery } from '../../api/person';
import { Page } from '../../parts/shell/page';
import { Section } from '../../parts/shell/section';
import section from '../../parts/shell/section.module.css';
import { EmptyState, Loadable } from '../../parts/states/states';
import { Identifier } from '../../parts/values/identifier';
import { Moment } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { peopleWords } from '../../words/people';
import { personWords as texts } from '../../words/person';
import { words } from '../../words/en';
import { nameOf, PersonMenu, PersonStatus } from './person';
import { type PersonAction, PersonDialog } from './person-dialog';
import { KeysSection } from './sections/keys-section';
import { MethodsSection } from './sections/methods-section';
import { SessionsSection } from './sections/sessions-section';
import { WorkspacesSection } from './sections/workspaces-section';

interface PersonPageProps {
  readonly id: string;
  readonly onRemoved: () => void;
}

/** One user: their profile, access and sign-in methods. */
export function PersonPage({ id, onRemoved }: PersonPageProps) {
  const query = useQuery(personQuery(id));
  const person = query.data;
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page
      title={(person && nameOf(person)) || person?.email || peopleWords.title}
      text={person?.email ?? peopleWords.text}
      tools={person && <Actions person={person} onRemoved={onRemoved} />}
    >
      {isGone ? (
        <EmptyState title={texts.gone} text={texts.goneText} />
      ) : (
        <Loadable state={loadStateOf(query, 'organisation_users.read')} lines={8}>
          {() => person && <Sections person={person} />}
        </Loadable>
      )}
    </Page>
  );
}

function Sections({ person }: { person: Person }) {
  return (
    <div className={section.page}>
      <Section title={texts.profile.title}>
        <dl className={section.facts}>
          <dt>{texts.profile.email}</dt>
          <dd>{person.email}</dd>
          <dt>{texts.profile.role}</dt>
          <dd>{words.roles[person.role] ?? person.role}</dd>
          <dt>{texts.profile.added}</dt>
          <dd>
            <Moment at={person.created_at} as="date" />
          </dd>
          <dt>{texts.profile.id}</dt>
          <dd>
            <Identifier id={person.id} />
          </dd>
        </dl>
      </Section>
      <WorkspacesSection person={person} />
      <KeysSection person={person} />
      <MethodsSection person={person} />
      <SessionsSection person={person} />
    </div>
  );
}

function Actions({ person, onRemoved }: { person: Person; onRemoved: () => void }) {
  const { session } = usePlace();
  const [action, setAction] = useState<PersonAction | null>(null);
  return (
    <span className={section.actions}>
      <PersonStatus person={person} />
      {person.id !== session.user.id && <PersonMenu person={person} onAct={setAction} />}
      {action && (
        <PersonDialog person={person} action={action} onClose={() => setAction(null)} onRemoved={onRemoved} />
      )}
    </span>
  );
}
