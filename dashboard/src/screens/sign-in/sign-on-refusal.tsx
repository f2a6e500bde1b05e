import { singleSignOnWords } from '../../words/single-sign-on';
import styles from './sign-in-page.module.css';

const texts = singleSignOnWords;

/** Parameters that the single sign-on callback adds to the URL of the sign-in page. */
export interface Refusal {
  readonly code: string;
  readonly requestId: string | undefined;
}

/** Codes come from the URL, so only known formats are shown. */
const textOf = (code: string): string =>
  texts.errors[code] ?? texts.unknownError(/^[a-z_]{1,60}$/.test(code) ? code : '–');

/** Why a sign-in at the identity provider failed, and what to do next. */
export function SignOnRefusal({ refusal: { code, requestId } }: { refusal: Refusal }) {
  const isId = requestId !== undefined && /^[\w-]{1,100}$/.test(requestId);
  return (
    <div className={styles.refusal} role="alert">
      <p>{textOf(code)}</p>
      {isId && (
        <p className={styles.requestId}>
          {texts.requestId} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}
