import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useState } from 'react';
import type { LogBody, LogDetail } from '../../../api/logs';
import { bytes } from '../../../parts/format/numbers';
import { visibleText } from '../../../parts/format/visible-text';
import { CopyButton } from '../../../parts/values/identifier';
import { logWords } from '../../../words/log';
import { words } from '../../../words/en';
import { curlOf } from '../curl-of';
import styles from '../log-drawer.module.css';

const { raw } = logWords;
/** Larger bodies are shown on demand. */
const LARGE_CHARACTERS = 1_000_000;

/** Headers and bodies of request and response, as recorded. */
export function RawTab({ log }: { log: LogDetail }) {
  return (
    <>
      <CurlButton log={log} />
      <RawSide title={raw.request} side={log.request} />
      <RawSide title={raw.response} side={log.response} />
    </>
  );
}

function CurlButton({ log }: { log: LogDetail }) {
  const command = curlOf(log, location.origin);
  const clipboard = useClipboard();
  if (command === null) return null;
  return (
    <Button size="compact-sm" onClick={() => clipboard.copy(command)}>
      {clipboard.copied ? words.parts.copied : logWords.copyCurl}
    </Button>
  );
}

function RawSide({ title, side }: { title: string; side: LogBody }) {
  const headers = Object.entries(side.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <section>
      <h3 className={styles.section}>{title}</h3>
      {headers.length > 0 && <pre className={styles.code}>{visibleText(headers.join('\n'))}</pre>}
      <RawBody side={side} />
    </section>
  );
}

const textOf = ({ body, body_format }: LogBody): string =>
  body_format === 'json'
    ? JSON.stringify(body, null, 2)
    : typeof body === 'string'
      ? body
      : JSON.stringify(body);

/** Notes on the completeness of the text below. */
function noteOf({ body_truncated, body_unavailable, body_format }: LogBody): string | null {
  if (body_unavailable) return raw.unavailable;
  if (body_truncated) return raw.truncated;
  return body_format === 'base64' ? raw.base64 : null;
}

function RawBody({ side }: { side: LogBody }) {
  const [isShown, setShown] = useState(false);
  const note = noteOf(side);
  if (side.body === null) return <p className={styles.none}>{note ?? raw.noBody}</p>;
  const text = textOf(side);
  const isHeldBack = text.length > LARGE_CHARACTERS && !isShown;
  return (
    <>
      <p className={styles.barLabel}>
        <span className={styles.none}>
          {raw.body}, {bytes(side.body_bytes)} {note}
        </span>
        <CopyButton value={text} label={words.parts.copy} />
      </p>
      {isHeldBack ? (
        <p className={styles.none}>
          {raw.large(bytes(side.body_bytes))} <Button onClick={() => setShown(true)}>{raw.show}</Button>
        </p>
      ) : (
        <pre className={styles.code}>{visibleText(text)}</pre>
      )}
    </>
  );
}
