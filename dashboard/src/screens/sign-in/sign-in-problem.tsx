import { ApiError } from '../../api/client';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { signInWords } from '../../words/sign-in';
import { singleSignOnWords } from '../../words/single-sign-on';
import { words } from '../../words/en';
import styles from './sign-in-page.module.css';

const texts = signInWords;
const MINUTE_S = 60;

/** Problems that users can solve, in one line. */
const PLAIN: Readonly<Record<string, string>> = {
  sign_in_failed: texts.wrong,
  reauthentication_failed: texts.stepUp.wrong,
  second_factor_failed: texts.codeWrong,
  passkey_failed: texts.passkeyRefused,
  single_sign_on_required: singleSignOnWords.required,
};

function plainText(error: Error): string | null {
  if (error instanceof DOMException) return texts.passkeyCancelled;
  if (!(error instanceof ApiError)) return null;
  if (error.status === 429) return texts.tooMany(Math.max(1, Math.ceil((error.retryAfter ?? 0) / MINUTE_S)));
  return PLAIN[error.code] ?? null;
}

/** Why a password, a code or a passkey was not accepted. */
export function SignInProblem({ error }: { error: Error }) {
  const text = plainText(error);
  if (text === null) return <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />;
  return (
    <p className={styles.wrong} role="alert">
      {text}
    </p>
  );
}

/** The server requires the code of the authenticator app: a further step, not a failure. */
export const asksForCode = (error: Error | null): boolean =>
  error instanceof ApiError && error.code === 'second_factor_required';
