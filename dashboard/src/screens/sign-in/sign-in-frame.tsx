import type { ReactNode } from 'react';
import { Brand } from '../../parts/brand';
import { signInWords } from '../../words/sign-in';
import styles from './sign-in-page.module.css';

/** A centred card on an otherwise empty page, for users who are not signed in. */
export function SignInFrame({
  title,
  text,
  children,
}: {
  title: string;
  text?: string;
  children?: ReactNode;
}) {
  return (
    <main className={styles.page}>
      <Brand />
      <section className={styles.card}>
        <h1>{title}</h1>
        <p className={styles.host}>{location.host}</p>
        {!isSecureContext && <p className={styles.warning}>{signInWords.insecure}</p>}
        {text && <p className={styles.text}>{text}</p>}
        {children}
      </section>
      <p className={styles.help}>
        {signInWords.lockedOut} <code>{signInWords.command}</code>
      </p>
    </main>
  );
}
