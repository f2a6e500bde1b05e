import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../../api/account';
import { loadStateOf } from '../../../api/load-state';
import { Page } from '../../../parts/shell/page';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { usePlace } from '../../../session/session';
import { accountWords } from '../../../words/account';
import { words } from '../../../words/en';
import { PasskeysSection } from './passkeys-section';
import { PasswordSection } from './password-section';
import { Section } from './section';
import { SessionsSection } from './sessions-section';
import { TotpSection } from './totp-section';

const texts = accountWords;

/** The signed-in user's own settings. */
export function AccountPage() {
  const { session } = usePlace();
  const account = useQuery(accountQuery);
  const methods = account.data?.sign_in_methods;
  return (
    <Page title={texts.title} text={texts.text}>
      <div className={section.page}>
        <Section title={texts.profile}>
          <dl className={section.facts}>
            <dt>{texts.name}</dt>
            <dd>{session.user.name ?? words.parts.none}</dd>
            <dt>{texts.email}</dt>
            <dd>{session.user.email}</dd>
            <dt>{texts.role}</dt>
            <dd>{words.roles[session.role] ?? session.role}</dd>
          </dl>
        </Section>
        <Loadable state={loadStateOf(account, 'sessions.read')} lines={4}>
          {() =>
            methods && (
              <div className={section.page}>
                {methods.password && <PasswordSection hasTotp={methods.totp} />}
                <TotpSection isOn={methods.totp} codesLeft={methods.recovery_codes_left} />
                <PasskeysSection />
                <SessionsSection />
              </div>
            )
          }
        </Loadable>
      </div>
    </Page>
  );
}
